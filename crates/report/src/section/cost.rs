//! What a million operations cost: at the knee, at the best, and at the plimsoll line.

use super::{Cell, Column, Group, Kind, Narrow, Section, Table};
use crate::{select, text, words};
use plimsoll_judge::{Analysis, CostResult, Estimate};
use plimsoll_record::quantities::numbers::Numbers;

/// A place where the cost may be known.
struct CostPlace {
    name: &'static str,
    of: fn(&CostResult) -> Option<&Estimate>,
    /// The load there, where it is not the line.
    load: fn(&CostResult) -> Option<&String>,
}

const PLACES: [CostPlace; 3] = [
    CostPlace {
        name: "at the knee",
        of: |cost| cost.at_knee.as_ref().map(|(_, estimate)| estimate),
        load: |cost| cost.at_knee.as_ref().map(|(load, _)| load),
    },
    CostPlace {
        name: "at the highest throughput",
        of: |cost| cost.at_best.as_ref().map(|(_, estimate)| estimate),
        load: |cost| cost.at_best.as_ref().map(|(load, _)| load),
    },
    CostPlace { name: "at the plimsoll line", of: |cost| cost.at_line.as_ref(), load: |_| None },
];

/// The costs of each mix; `None` where no arm has a price.
pub(crate) fn costs(analysis: &Analysis, numbers: Numbers) -> Option<Section> {
    if analysis.costs.is_empty() {
        return None;
    }
    let is_known =
        |place: &&CostPlace| analysis.costs.iter().any(|cost| (place.of)(cost).is_some());
    let places: Vec<&CostPlace> = PLACES.iter().filter(is_known).collect();
    let mut columns = vec![
        Column { title: "Arm", unit: "", short: "", kind: Kind::Arm },
        Column::figure("Price", "of an hour", "price of an hour"),
    ];
    let costs =
        places.iter().map(|place| Column::figure("Cost per 1M ops", place.name, place.name));
    columns.extend(costs);
    columns.push(Column::words("Price from"));
    let group = |mix| {
        let costs = analysis.costs.iter().filter(|cost| cost.mix == mix);
        let costs: Vec<&CostResult> = costs.collect();
        (!costs.is_empty()).then(|| Group {
            arm: None,
            words: format!("Mix {}", text::short(mix, 80)),
            rows: rows(&costs, &places, numbers),
        })
    };
    let groups = select::mixes(analysis).into_iter().filter_map(group).collect();
    let table = Table {
        remark: "★ is the cheapest of its column, where all prices are in one currency. The verdict says whether a difference is more than chance.",
        ..Table::new("cost per 1M operations", columns, groups, Narrow::List)
    };
    Some(Section {
        lead: "Cost per million successful operations: the price of an hour divided by the operations done in an hour. The interval comes from the operations; the price is as given.",
        sentences: Vec::new(),
        tables: vec![table],
    })
}

fn rows(costs: &[&CostResult], places: &[&CostPlace], numbers: Numbers) -> Vec<Vec<Cell>> {
    let cheapest = |place: &&CostPlace| {
        let known = costs.iter().map(|cost| Some((cost.currency.as_str(), (place.of)(cost)?)));
        select::cheapest(known)
    };
    let cheapest: Vec<Option<usize>> = places.iter().map(cheapest).collect();
    let row = |(row, cost): (usize, &&CostResult)| {
        let price = format!("{} {}", words::price(cost.per_hour, numbers), currency(cost));
        let mut cells = vec![Cell::from(cost.arm.as_str()), Cell::from(price)];
        for (place, cheapest) in places.iter().zip(&cheapest) {
            let load = (place.load)(cost).map(String::as_str);
            let is_cheapest = *cheapest == Some(row);
            cells.push(cell((place.of)(cost), load, cost, is_cheapest, numbers));
        }
        let source = cost.source.as_deref().unwrap_or("source not given");
        cells.push(text::short(source, 120).into());
        cells
    };
    costs.iter().enumerate().map(row).collect()
}

/// The currency, which is foreign text.
fn currency(cost: &CostResult) -> String {
    text::short(&cost.currency, 8)
}

/// A cost with its interval, and the load at which it is so.
pub(crate) fn cell(
    estimate: Option<&Estimate>,
    load: Option<&str>,
    cost: &CostResult,
    is_cheapest: bool,
    numbers: Numbers,
) -> Cell {
    let Some(estimate) = estimate.filter(|estimate| select::median(estimate).is_finite()) else {
        return Cell::default();
    };
    let money = |value| words::money(value, numbers);
    let interval = match estimate.interval {
        Some((low, high)) => format!("{} to {}", money(low), money(high)),
        None => "no interval".to_owned(),
    };
    Cell {
        text: Some(format!("{} {}", money(select::median(estimate)), currency(cost))),
        small: [interval].into_iter().chain(load.map(str::to_owned)).collect(),
        best: is_cheapest.then_some("cheapest"),
    }
}
