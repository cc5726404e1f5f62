//! How servers carried out an application's operations, and what its indexes take.

use super::{Cell, Column, Group, Narrow, Section, Table};
use crate::text;
use plimsoll_judge::{Analysis, ArmApplication, IndexUse, OperationUse};
use plimsoll_record::quantities::numbers::Numbers;

/// Characters of a name that are shown, and of a plan.
const NAME: usize = 40;
const PLAN: usize = 160;

/// Plans and indexes of each arm; `None` without a server.
pub(crate) fn application(analysis: &Analysis, numbers: Numbers) -> Option<Section> {
    if analysis.application.is_empty() {
        return None;
    }
    Some(Section {
        lead: "What the server said, not measured: five commands of each operation were drawn as for measuring and explained, after the load and after the last \
               point. Numbers are means over the commands after the load, and medians over the runs.",
        sentences: Vec::new(),
        tables: vec![plans(analysis, numbers), indexes(analysis, numbers)],
    })
}

fn plans(analysis: &Analysis, numbers: Numbers) -> Table {
    let columns = vec![
        Column::words("Operation"),
        Column::figure("Keys", "examined", "keys"),
        Column::figure("Documents", "examined", "documents"),
        Column::figure("Found", "documents", "found"),
        Column::words("Plan"),
    ];
    let rows =
        |one: &ArmApplication| one.operations.iter().map(|used| plan(used, numbers)).collect();
    Table::new("plans of operations", columns, groups(analysis, rows), Narrow::List)
}

fn indexes(analysis: &Analysis, numbers: Numbers) -> Table {
    let columns = vec![
        Column::words("Index"),
        Column::figure("Size", "on disk", "size"),
        Column::figure("Used", "times in a run", "used"),
    ];
    let rows =
        |one: &ArmApplication| one.indexes.iter().map(|index| index_row(index, numbers)).collect();
    Table::new("indexes", columns, groups(analysis, rows), Narrow::List)
}

fn groups(analysis: &Analysis, rows: impl Fn(&ArmApplication) -> Vec<Vec<Cell>>) -> Vec<Group> {
    let group = |one: &ArmApplication| Group::of_arm(&one.arm, rows(one));
    analysis.application.iter().map(group).filter(|group| !group.rows.is_empty()).collect()
}

fn plan(used: &OperationUse, numbers: Numbers) -> Vec<Cell> {
    let name = text::short(used.operation.name(), NAME);
    if let Some(refused) = used.refused.as_deref().filter(|_| used.plans.is_empty()) {
        let none = || Cell::default();
        return vec![name.into(), none(), none(), none(), text::short(refused, PLAN).into()];
    }
    let count = |value: f64| Cell::from(numbers.significant(value, 3));
    let changed = used.changed_to.iter().map(|other| format!("later {}", text::short(other, PLAN)));
    vec![
        name.into(),
        count(used.keys_examined),
        count(used.documents_examined),
        count(used.documents_found),
        Cell::from(text::short(&used.plans.join("; "), PLAN)).with(changed),
    ]
}

fn index_row(index: &IndexUse, numbers: Numbers) -> Vec<Cell> {
    let name =
        format!("{} of {}", text::short(&index.name, NAME), text::short(&index.collection, NAME));
    let uses = index.uses.map(|uses| numbers.count(uses as u64));
    vec![name.into(), numbers.bytes_of(index.bytes).into(), uses.into()]
}
