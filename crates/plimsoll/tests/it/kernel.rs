//! Settings of the kernel while an arm runs. Each test that changes one has a setting of its own, because the kernel is one.

use crate::laboratory::{Laboratory, has_slices, wait_until};
use plimsoll_record::KernelSetting;
use plimsoll_testing::{Need, assert_contains, needs};
use rustix::process::Signal;
use std::fs;
use std::path::Path;

const EXPERIMENT: &str = "
plimsoll: 1
name: kernel
workload: {records: 10, preset: c}
defaults: {engine: simulated, service: constant, service_mean: 1ms}
arms: {one: {kernel: {SETTING}}, other: {kernel: {SETTING}}}
load: {closed: {threads: 1}}
measurement: {warm_up: 0s, duration: 4m, blocks: 1}
";
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const DIRTY_RATIO: &str = "/proc/sys/vm/dirty_ratio";

/// A file of the kernel, restored even when a test fails.
struct Restored {
    file: &'static str,
    was: String,
}

impl Restored {
    fn of(file: &'static str) -> Self {
        Self { file, was: chosen(file) }
    }
}

impl Drop for Restored {
    fn drop(&mut self) {
        let _ = fs::write(self.file, &self.was);
    }
}

/// What a file holds: all of it, or the word in brackets.
fn chosen(file: &str) -> String {
    let text = fs::read_to_string(file).unwrap();
    let word = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    word.map_or(text.trim(), |(word, _)| word).to_owned()
}

#[test]
fn a_setting_that_this_machine_lacks_ends_the_program_before_anything_is_made() {
    needs!([Need::Root]);
    if Path::new("/sys/devices/system/cpu/cpufreq/policy0").exists() {
        return;
    }
    let laboratory = Laboratory::new();
    let said = laboratory.experiment(EXPERIMENT.replace("SETTING", "governor: performance"));
    assert_ne!(said.code, Some(0));
    assert_contains(&said.err, "nothing was begun, because this experiment cannot run here");
    assert_contains(&said.err, "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor");
    assert!(laboratory.record_so_far().is_none());
}

mod slow {
    use super::*;

    #[test]
    fn a_killed_program_leaves_the_kernel_as_it_was() {
        needs!([Need::Root, Need::File(HUGE_PAGES)]);
        let restored = Restored::of(HUGE_PAGES);
        let other = if restored.was == "never" { "madvise" } else { "never" };
        let text = EXPERIMENT.replace("SETTING", &format!("transparent_huge_pages: {other}"));
        for is_rig_killed_too in [false, true] {
            let laboratory = Laboratory::new();
            let mut running = laboratory.start_experiment(&text);
            let seen = laboratory.wait_for_record(&mut running, has_slices);
            seen.expect("four minutes are not over");
            assert_eq!(chosen(HUGE_PAGES), other);
            if is_rig_killed_too {
                running.crash();
                wait_until("the worker to end", || laboratory.processes().is_empty());
                assert_eq!(chosen(HUGE_PAGES), other, "nobody is left who could restore it");
                let cleaned = laboratory.run(&["clean"]);
                assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
                let words = format!("the kernel's transparent_huge_pages set to {other}");
                assert_contains(&(cleaned.out + &cleaned.err), &words);
            } else {
                running.send(Signal::KILL);
                running.end();
                wait_until("the kernel to be restored", || chosen(HUGE_PAGES) == restored.was);
            }
            assert_eq!(chosen(HUGE_PAGES), restored.was);
        }
    }

    #[test]
    fn both_halves_of_a_duet_have_the_setting_and_then_it_is_restored() {
        needs!([Need::Root]);
        let restored = Restored::of(DIRTY_RATIO);
        let other = if restored.was == "33" { "34" } else { "33" };
        let text = EXPERIMENT
            .replace("SETTING", &format!("dirty_ratio: {other}%"))
            .replace("duration: 4m, blocks: 1", "duration: 50ms, pairing: duet, blocks: 2");
        let laboratory = Laboratory::new();
        let said = laboratory.experiment(text);
        assert_eq!(chosen(DIRTY_RATIO), restored.was, "{said:?}");
        let record = laboratory.record();
        assert!(record.runs.len() >= 4, "{said:?}");
        for run in &record.runs {
            let made = run.rig.as_ref().unwrap();
            assert_eq!(made.kernel[&KernelSetting::DirtyRatio], other, "{run:?}");
        }
    }
}
