//! `price`: what an arm costs.

use crate::document::{Checked, Value};
use crate::elements::arm::ReadArm;
use crate::elements::rig::RigReader;
use crate::keys::arm::arm;
use crate::keys::price::price;
use crate::mistake::Mistake;
use crate::presets::MachinePreset;
use crate::table::*;
use plimsoll_plan::words::price_words;
use plimsoll_plan::{SettingValue, Source};
use plimsoll_record::Price;

impl RigReader<'_, '_> {
    /// The price from the arm, else that of its machine.
    pub(crate) fn price(
        &mut self,
        path: &str,
        arm: &ReadArm,
        machine: Option<&MachinePreset>,
    ) -> Option<Price> {
        let path = arm::price.under(path);
        let Some(given) = arm.get(arm::price) else {
            let machine = machine?;
            let name = machine.name.clone();
            self.origins.add(&path, price_words(&machine.price), Source::Preset { name });
            return Some(machine.price.clone());
        };
        let map = &given.checked;
        let text = |key: &Key| {
            map.get(key).map(|checked| (checked, checked.text().unwrap_or_default().to_owned()))
        };
        let base = machine.map(|machine| &machine.price);
        let per_hour =
            map.get(price::per_hour).map_or(base.map(|price| price.per_hour), Checked::number);
        let currency = text(price::currency);
        if let Some((checked, currency)) = &currency
            && (currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_alphabetic()))
            && matches!(checked.value, Value::One(SettingValue::Text(_)))
        {
            let currency = currency.clone();
            self.wrong(
                &price::currency.under(&given.path),
                checked.place,
                Mistake::BadCurrency { currency },
            );
        }
        let date = text(price::date);
        if let Some((checked, date)) = &date
            && !is_date(date)
        {
            let date = date.clone();
            self.wrong(&price::date.under(&given.path), checked.place, Mistake::BadDate { date });
        }
        let currency = currency
            .map(|(_, currency)| currency.to_ascii_uppercase())
            .or_else(|| base.map(|price| price.currency.clone()));
        // Source and date of a machine's price are not those of another one.
        let base = base.filter(|_| map.get(price::per_hour).is_none());
        for (key, missing) in [
            (price::per_hour, per_hour.is_none() && map.get(price::per_hour).is_none()),
            (price::currency, currency.is_none()),
        ] {
            if missing {
                let key = key.name;
                self.wrong(&given.path, map.place, Mistake::PriceWithout { key });
            }
        }
        let price = Price {
            per_hour: per_hour?,
            currency: currency?,
            source: text(price::source)
                .map(|(_, source)| source)
                .or_else(|| base.and_then(|price| price.source.clone())),
            date: date.map(|(_, date)| date).or_else(|| base.and_then(|price| price.date.clone())),
        };
        self.origins.add_file(&path, price_words(&price), map.place);
        Some(price)
    }
}

/// A year, a month or a day, such as `2014`, `2014-09` or `2014-09-30`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, digits: usize, least: u32, most: u32| {
        part.len() == digits
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse().is_ok_and(|number: u32| (least..=most).contains(&number))
    };
    match parts.as_slice() {
        [year] => number(year, 4, 1970, 9999),
        [year, month] => number(year, 4, 1970, 9999) && number(month, 2, 1, 12),
        [year, month, day] => {
            number(year, 4, 1970, 9999) && number(month, 2, 1, 12) && number(day, 2, 1, 31)
        }
        _ => false,
    }
}
