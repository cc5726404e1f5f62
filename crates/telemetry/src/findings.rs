//! What a machine check thinks of a machine, with advice.
//!
//! Pure functions of a [`Survey`]. Bounds are where an effect becomes visible next to what a comparison usually wants to see, one to a
//! few per cent; the reasons stand beside them.

mod memory;
mod place;
mod processor;

use crate::Survey;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingSeverity {
    Good,
    /// Worth knowing when reading results.
    Note,
    /// Will distort or prevent measurements.
    Bad,
}

/// One examined property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable name of the examined property.
    pub id: &'static str,
    pub severity: FindingSeverity,
    /// What was seen, in one sentence.
    pub what: String,
    /// Why it matters and what to do, unless it is good.
    pub advice: Option<String>,
}

/// Judges everything in the survey, in a fixed order. What could not be looked at is left out.
pub fn findings(survey: &Survey) -> Vec<Finding> {
    let machine = &survey.machine;
    let mut findings = Vec::new();
    findings.extend(processor::cores(machine));
    findings.extend(processor::governor(machine));
    findings.extend(processor::boost(machine));
    findings.extend(memory::huge_pages(machine));
    findings.extend(memory::layout(machine));
    findings.extend(memory::swap(machine));
    findings.extend(processor::clock_source(machine));
    findings.extend(survey.timer_resolution_ns.map(processor::timer_resolution));
    findings.extend(processor::virtualisation(machine));
    findings.extend(survey.stolen_share.map(processor::stolen));
    findings
        .extend(survey.foreign.as_ref().map(|foreign| processor::foreign(foreign, machine.cores)));
    findings.extend(survey.interruptions.as_ref().map(processor::interruptions));
    findings.extend(survey.load_average.map(|load| processor::load_average(load, machine.cores)));
    findings.extend(memory::memory_limit(machine));
    findings.extend(processor::cpu_limit(machine));
    for data in &survey.data {
        findings.push(place::writable("data-writable", "the data directory", data));
        findings.extend(place::filesystem(&data.storage));
        findings.extend(place::readahead(&data.storage));
    }
    if let Some(store) = &survey.store {
        findings.push(place::writable("store-writable", "the store", store));
    }
    findings
}

fn good(id: &'static str, what: impl Into<String>) -> Finding {
    Finding { id, severity: FindingSeverity::Good, what: what.into(), advice: None }
}

fn note(id: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Finding {
    Finding { id, severity: FindingSeverity::Note, what: what.into(), advice: Some(advice.into()) }
}

fn bad(id: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Finding {
    Finding { id, severity: FindingSeverity::Bad, what: what.into(), advice: Some(advice.into()) }
}

fn size(bytes: u64) -> String {
    let mut number = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if number < 1024.0 {
            return format!("{} {unit}", (number * 10.0).round() / 10.0);
        }
        number /= 1024.0;
    }
    format!("{} TiB", (number * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interruptions, WritablePath};
    use plimsoll_record::{ForeignCpu, ForeignProgram, Machine, Storage};

    /// A server that somebody has prepared.
    fn prepared() -> Survey {
        let storage = Storage {
            directory: "/data".to_owned(),
            filesystem: Some("xfs".to_owned()),
            device: Some("/dev/nvme0n1".to_owned()),
            readahead_bytes: Some(32 << 10),
            ..Storage::default()
        };
        Survey {
            machine: Machine {
                cpu_model: Some("A fast one".to_owned()),
                memory_bytes: 64 << 30,
                cores: 16,
                governor: Some("performance".to_owned()),
                boost: Some(false),
                transparent_huge_pages: Some("madvise".to_owned()),
                layout_is_random: Some(true),
                clock_source: Some("tsc".to_owned()),
                ..Machine::default()
            },
            foreign: Some(ForeignCpu {
                cpu_ns: 30_000_000,
                elapsed_ns: 500_000_000,
                programs: Vec::new(),
            }),
            load_average: Some(0.02),
            timer_resolution_ns: Some(1),
            interruptions: Some(Interruptions {
                looked_ns: 500_000_000,
                lost_ns: 100_000,
                longest_ns: 20_000,
                clock_readings: 20_000_000,
            }),
            stolen_share: Some(0.0),
            data: vec![WritablePath { storage, writable: true }],
            store: Some(WritablePath {
                storage: Storage {
                    directory: "/home/a/plimsoll.db".to_owned(),
                    ..Storage::default()
                },
                writable: true,
            }),
        }
    }

    /// A small guest with everything wrong that can be.
    fn neglected() -> Survey {
        let place = |directory: &str, filesystem: &str, device: Option<&str>, readahead_bytes| {
            WritablePath {
                storage: Storage {
                    directory: directory.to_owned(),
                    filesystem: Some(filesystem.to_owned()),
                    device: device.map(str::to_owned),
                    readahead_bytes,
                    ..Storage::default()
                },
                writable: false,
            }
        };
        Survey {
            machine: Machine {
                memory_bytes: 1 << 30,
                cores: 1,
                swap_bytes: 2 << 30,
                governor: Some("powersave".to_owned()),
                boost: Some(true),
                transparent_huge_pages: Some("always".to_owned()),
                layout_is_random: Some(false),
                clock_source: Some("hpet".to_owned()),
                virtualisation: Some("KVM, Docker container".to_owned()),
                memory_limit_bytes: Some(512 << 20),
                cpu_limit: Some(0.5),
                ..Machine::default()
            },
            foreign: Some(ForeignCpu {
                cpu_ns: 310_000_000,
                elapsed_ns: 500_000_000,
                programs: vec![ForeignProgram { name: "cc1plus".to_owned(), cpu_ns: 310_000_000 }],
            }),
            load_average: Some(3.5),
            timer_resolution_ns: Some(4_000_000),
            interruptions: Some(Interruptions {
                looked_ns: 500_000_000,
                lost_ns: 60_000_000,
                longest_ns: 48_000_000,
                clock_readings: 2_000_000,
            }),
            stolen_share: Some(0.08),
            data: vec![
                place("/var/data", "overlay", None, None),
                place("/tmp", "tmpfs", None, None),
                place("/net", "nfs4", Some("server:/export"), None),
                place("/disk", "ext4", Some("/dev/vda1"), Some(8 << 20)),
            ],
            store: Some(place("/plimsoll.db", "ext4", None, None)),
        }
    }

    fn page(survey: &Survey) -> String {
        let mut page = String::new();
        for finding in findings(survey) {
            page.push_str(&format!("{:?} {}: {}\n", finding.severity, finding.id, finding.what));
            if let Some(advice) = finding.advice {
                page.push_str(&format!("     {advice}\n"));
            }
        }
        page
    }

    #[test]
    fn a_prepared_server_is_all_good() {
        assert!(
            findings(&prepared()).iter().all(|finding| finding.severity == FindingSeverity::Good)
        );
        insta::assert_snapshot!(page(&prepared()));
    }

    #[test]
    fn a_neglected_guest_has_advice_on_everything() {
        let good = findings(&neglected()).into_iter().filter(|finding| finding.advice.is_none());
        let good: Vec<String> = good.map(|finding| finding.what).collect();
        assert_eq!(good, ["data in /disk lies on ext4 on /dev/vda1"]);
        insta::assert_snapshot!(page(&neglected()));
    }

    #[test]
    fn what_a_machine_does_not_show_is_not_judged() {
        assert_eq!(findings(&Survey::default()), []);
    }

    #[test]
    fn findings_are_written_as_json_too() {
        let findings = serde_json::to_value(findings(&prepared())).unwrap();
        let expected = serde_json::json!({
            "id": "cores", "severity": "good", "what": "there are 16 processors", "advice": null
        });
        assert_eq!(findings[0], expected);
    }

    /// The severity of one finding in a survey that is good but for one thing.
    fn severity(id: &str, change: impl FnOnce(&mut Survey)) -> FindingSeverity {
        let mut survey = prepared();
        change(&mut survey);
        let findings = findings(&survey);
        findings.iter().find(|finding| finding.id == id).unwrap().severity
    }

    #[test]
    fn between_good_and_bad_there_are_notes() {
        use FindingSeverity::{Bad, Good, Note};
        for (cores, expected) in [(1, Bad), (2, Note), (3, Note), (4, Good)] {
            let found = severity("cores", |survey| survey.machine.cores = cores);
            assert_eq!(found, expected);
        }
        for (source, expected) in
            [("kvm-clock", Note), ("arch_sys_counter", Good), ("acpi_pm", Bad)]
        {
            assert_eq!(
                severity("clock-source", |survey| survey.machine.clock_source =
                    Some(source.to_owned())),
                expected
            );
        }
        for (share, expected) in [(0.0005, Good), (0.005, Note), (0.01, Bad)] {
            let found = severity("stolen-cpu", |survey| survey.stolen_share = Some(share));
            assert_eq!(found, expected);
        }
        for (load, expected) in [(1.5, Good), (1.6, Note), (8.0, Bad)] {
            assert_eq!(
                severity("load-average", |survey| survey.load_average = Some(load)),
                expected
            );
        }
        for (kibibytes, expected) in [(128, Good), (129, Note), (1024, Bad)] {
            assert_eq!(
                severity("readahead", |survey| {
                    survey.data[0].storage.readahead_bytes = Some(kibibytes * 1024);
                }),
                expected
            );
        }
        let looks = [
            (400_000, 20_000, Good),
            (400_000, 1_000_000, Note),
            (600_000, 20_000, Note),
            (5_000_000, 0, Bad),
        ];
        for (lost_ns, longest_ns, expected) in looks {
            let seen =
                Interruptions { looked_ns: 500_000_000, lost_ns, longest_ns, clock_readings: 1 };
            assert_eq!(
                severity("interruptions", |survey| survey.interruptions = Some(seen)),
                expected
            );
        }
    }

    #[test]
    fn sizes_are_in_peoples_units() {
        assert_eq!(size(512), "512 B");
        assert_eq!(size(128 << 10), "128 KiB");
        assert_eq!(size(1536 << 20), "1.5 GiB");
        assert_eq!(size(3 << 40), "3 TiB");
    }
}
