//! Controls: copies of the baseline, slowed down by a known size, that are measured beside the arms.

use crate::document::{Checked, Value, join};
use crate::keys::controls::LARGEST;
use crate::keys::file::file;
use crate::mistake::Mistake;
use crate::origins::Origins;
use crate::{Collector, Overrides};
use plimsoll_plan::{Arm, Compare, SettingValue, Source};
use plimsoll_record::quantities::units;

/// The flag that asks for one.
const FLAG: &str = "--control";

/// The arms of the controls that the file or the command line asks for; the latter wins.
pub(crate) fn controls(
    file: &Checked,
    overrides: &Overrides,
    (arms, compare): (&[Arm], &Compare),
    is_grid: bool,
    origins: &mut Origins<'_>,
    problems: &mut Collector<'_>,
) -> Vec<Arm> {
    let path = file::controls.name;
    let list = file.get(file::controls);
    let of_file = list.iter().flat_map(|list| list.items());
    let of_file = of_file.filter_map(|item| match item.value {
        Value::One(SettingValue::Number(size)) => Some((size, Some(item.place))),
        _ => None,
    });
    let sizes: Vec<_> = match &overrides.controls[..] {
        [] => of_file.collect(),
        given => given.iter().map(|size| (*size, None)).collect(),
    };
    let first = sizes.first().and_then(|(_, place)| *place);
    if is_grid && !sizes.is_empty() {
        problems.add(path, first, Mistake::ControlsOfCells);
        return Vec::new();
    }
    let Some(baseline) = arms.iter().find(|arm| arm.name == compare.baseline) else {
        return Vec::new();
    };
    let mut controls: Vec<Arm> = Vec::new();
    for (size, place) in sizes {
        let value = units::share(size);
        if !(0.0..=LARGEST).contains(&size) {
            let mistake = Mistake::FlagOutOfRange {
                flag: FLAG,
                value,
                least: units::share(0.0),
                most: units::share(LARGEST),
            };
            problems.add("", None, mistake);
            continue;
        }
        if controls.iter().any(|known| known.planted == Some(size)) {
            problems.add(path, place, Mistake::Repeated { value });
            continue;
        }
        // No arm of a file can have this name: names of arms have no spaces.
        let name = format!("control {value}");
        let words = format!("as {}, slowed down by {value}", baseline.name);
        let origin = join(file::arms.name, &name);
        match place {
            Some(place) => origins.add_file(&origin, words, place),
            None => origins.add(&origin, words, Source::Flag { name: FLAG.into() }),
        }
        controls.push(Arm { name, about: None, planted: Some(size), ..baseline.clone() });
    }
    controls
}
