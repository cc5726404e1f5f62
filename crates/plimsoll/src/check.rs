use crate::arguments;
use crate::exit::Exit;
use crate::read::store_path;
use crate::rig::Rigs;
use crate::rights::rights;
use crate::screen::{print, print_json};
use plimsoll_record::redact::line;
use plimsoll_telemetry::{FindingSeverity, Survey, findings};
use std::path::Path;
use std::time::Duration;

/// How long one processor is watched for interruptions.
const LOOK: Duration = Duration::from_millis(500);

/// `plimsoll check`: findings with advice. Always good: a machine that is not perfect is no failure of this command.
pub fn check(
    arguments: &arguments::Check,
    store: Option<&Path>,
    rigs: &Rigs,
) -> anyhow::Result<Exit> {
    let mut directories = arguments.directory.clone();
    if directories.is_empty() {
        directories.push(rigs.get()?.look(None)?);
    }
    let survey = Survey::take(Some(&store_path(store)?), &directories, LOOK);
    let findings = findings(&survey);
    let rights = rights();
    if arguments.json {
        let all = serde_json::json!({
            "survey": survey, "findings": findings, "rights": rights,
        });
        print_json(&all)?;
        return Ok(Exit::Good);
    }
    for finding in &findings {
        let word = match finding.severity {
            FindingSeverity::Good => "good",
            FindingSeverity::Note => "note",
            FindingSeverity::Bad => "BAD ",
        };
        print(format_args!("{word}  {}\n", finding.what))?;
        if let Some(advice) = &finding.advice {
            print(format_args!("      {advice}\n"))?;
        }
    }
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    print(format_args!(
        "\n{} good, {} to note, {} bad\n",
        count(FindingSeverity::Good),
        count(FindingSeverity::Note),
        count(FindingSeverity::Bad)
    ))?;
    print("\nWhat runs with which rights; none of it can gain more:\n")?;
    let width = rights.iter().map(|right| right.user.chars().count()).max();
    let width = width.unwrap_or_default();
    for right in rights {
        print(format_args!(
            "  {:<width$}  {:<37}  {}\n",
            line(&right.user),
            right.what,
            right.why
        ))?;
    }
    Ok(Exit::Good)
}
