//! Each test on a setting of its own: they run at the same time, and the kernel is one.

use super::*;
use crate::testbed::abandoned;
use crate::testbed::laboratory::Site;
use crate::testbed::{Rig, RigOrder, what_runs_here};
use plimsoll_testing::{Need, assert_contains, needs};

/// The kernel's file of a setting, restored when a test fails.
struct Restored {
    setting: KernelSetting,
    was: String,
}

impl Restored {
    fn of(setting: KernelSetting) -> Self {
        Self { setting, was: found(setting) }
    }

    /// A value that the setting does not have.
    fn other(&self) -> String {
        let number: u64 = self.was.parse().unwrap();
        if number > 10 { number - 1 } else { number + 1 }.to_string()
    }
}

impl Drop for Restored {
    fn drop(&mut self) {
        let _ = fs::write(file_of_machine(self.setting).unwrap(), &self.was);
    }
}

fn found(setting: KernelSetting) -> String {
    read(file_of_machine(setting).unwrap()).unwrap().chosen
}

fn with(setting: KernelSetting, value: &str) -> RigSpec {
    RigSpec { kernel: [(setting, value.to_owned())].into(), ..RigSpec::default() }
}

/// One of several rigs at the same time.
fn build(site: &mut Site, spec: &RigSpec, label: &str) -> Result<Rig, TestbedError> {
    site.with_order(spec, 1 << 20, |order, journal| {
        Rig::build(&RigOrder { label, ..*order }, journal)
    })
}

#[test]
fn files_say_what_they_hold_and_offer() {
    let folder = tempfile::tempdir().unwrap();
    let content = |chosen: &str, offered: &[&str]| Content {
        chosen: chosen.into(),
        offered: offered.iter().map(|word| (*word).to_owned()).collect(),
    };
    let file = folder.path().join("scaling_governor");
    for (text, expected) in [
        ("always [madvise] never\n", content("madvise", &["always", "madvise", "never"])),
        ("none\n", content("none", &["none"])),
        ("60\n", content("60", &[])),
    ] {
        fs::write(&file, text).unwrap();
        assert_eq!(read(&file).unwrap(), expected);
    }
    fs::write(folder.path().join("scaling_available_governors"), "performance powersave \n")
        .unwrap();
    fs::write(&file, "powersave\n").unwrap();
    assert_eq!(read(&file).unwrap(), content("powersave", &["performance", "powersave"]));
}

#[test]
fn what_is_not_offered_or_could_not_be_restored_is_refused_before_anything_changes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("setting");
    let refusal = |setting: KernelSetting, value: &str, text: &str| {
        fs::write(&file, text).unwrap();
        let error = acceptable((setting, value), &file).unwrap_err().to_string();
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        error.replace(&file.display().to_string(), "FILE")
    };
    assert_eq!(
        refusal(KernelSetting::Scheduler, "bfq", "[none] mq-deadline"),
        "`kernel: {scheduler: bfq}`: FILE offers only none, mq-deadline: write one of these, or load the kernel module of another"
    );
    assert_eq!(
        refusal(KernelSetting::Swappiness, "201", "60"),
        "`kernel: {swappiness: 201}`: this is no value for FILE"
    );
    assert_eq!(
        refusal(KernelSetting::DirtyRatio, "10", "0"),
        "`kernel: {dirty_ratio: 10%}`: FILE holds 0, which could not be restored, because another setting such as vm.dirty_bytes replaces it: set it by hand first"
    );
    let missing = acceptable((KernelSetting::Governor, "performance"), Path::new("/nowhere"));
    assert_eq!(
        missing.unwrap_err().to_string(),
        "`kernel: {governor: performance}`: this machine has no /nowhere: remove the key, or run the arm on another machine"
    );
}

#[test]
fn without_root_it_is_said_what_needs_it() {
    if rustix::process::geteuid().is_root() {
        // This changes only this thread, which ends with the test.
        rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(65_534)).unwrap();
    }
    let spec = with(KernelSetting::Swappiness, "1");
    assert_contains(what_runs_here(&spec).unwrap_err(), "a setting of the kernel needs root: run");
}

#[test]
fn what_this_machine_lacks_is_refused_with_its_file_and_choices() {
    needs!([Need::Root]);
    let spec = with(KernelSetting::TransparentHugePages, "sometimes");
    assert_contains(
        what_runs_here(&spec).unwrap_err(),
        "/sys/kernel/mm/transparent_hugepage/enabled offers only always, madvise, never",
    );
    if policies().is_empty() {
        let spec = with(KernelSetting::Governor, "performance");
        assert_contains(
            Site::new().build(&spec).unwrap_err(),
            "this machine has no /sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
        );
    }
}

#[test]
fn a_setting_is_made_watched_and_restored() {
    needs!([Need::Root]);
    let restored = Restored::of(KernelSetting::Swappiness);
    let mut site = Site::new();
    let mut spec = with(restored.setting, &restored.other());
    spec.limits.memory_bytes = Some(64 << 20);
    let rig = site.build(&spec).unwrap();
    assert_eq!(found(restored.setting), restored.other());
    assert_eq!(rig.record().kernel, spec.kernel);
    let of_group = rig.group().unwrap().memory.clone().unwrap().join("memory.swappiness");
    if of_group.exists() {
        assert_eq!(fs::read_to_string(of_group).unwrap().trim(), restored.other());
    }
    rig.is_sound().unwrap();

    let file = file_of_machine(restored.setting).unwrap();
    fs::write(file, "100").unwrap();
    assert_contains(rig.is_sound().unwrap_err(), "holds 100 now: another program has changed it");
    fs::write(file, restored.other()).unwrap();
    assert_eq!(site.undo(rig), [""; 0]);
    assert_eq!(found(restored.setting), restored.was);
    drop(site.journal);
    assert!(abandoned(&site.folder.path().join("state")).unwrap().is_empty());
}

#[test]
fn what_somebody_has_changed_since_is_left_as_it_is() {
    needs!([Need::Root]);
    let restored = Restored::of(KernelSetting::DirtyBackgroundRatio);
    let mut site = Site::new();
    let rig = site.build(&with(restored.setting, &restored.other())).unwrap();
    let file = file_of_machine(restored.setting).unwrap();
    fs::write(file, "3").unwrap();
    site.undo(rig);
    assert_eq!(found(restored.setting), "3");
}

/// In a duet both arms stand at the same time, and either may be undone first.
#[test]
fn the_last_of_two_rigs_restores_what_was_before_the_first() {
    needs!([Need::Root]);
    let restored = Restored::of(KernelSetting::DirtyExpire);
    let spec = with(restored.setting, &restored.other());
    for is_first_undone_first in [true, false] {
        let mut site = Site::new();
        let first = build(&mut site, &spec, "first").unwrap();
        let second = build(&mut site, &spec, "second").unwrap();
        let third = build(&mut site, &with(restored.setting, "4242"), "third").unwrap_err();
        assert_contains(third, "another run at the same time needs");
        let [one, other] = if is_first_undone_first { [first, second] } else { [second, first] };
        site.undo(one);
        assert_eq!(found(restored.setting), restored.other(), "the other still needs it");
        other.is_sound().unwrap();
        site.undo(other);
        assert_eq!(found(restored.setting), restored.was);
    }
}

/// As if the program were killed while one or both of two rigs stand.
#[test]
fn the_journal_of_a_program_that_is_gone_restores_what_was_before_both_rigs() {
    needs!([Need::Root]);
    let restored = Restored::of(KernelSetting::DirtyWriteback);
    let spec = with(restored.setting, &restored.other());
    for are_both_left in [true, false] {
        let mut site = Site::new();
        let first = build(&mut site, &spec, "first").unwrap();
        let second = build(&mut site, &spec, "second").unwrap();
        match are_both_left {
            true => first.forget(),
            false => drop(site.undo(first)),
        }
        second.forget();
        let state = site.state();
        let mut other = Site::new();
        other.journal = crate::testbed::Journal::open(&state, "another program").unwrap();
        let refused = other.build(&spec).unwrap_err();
        assert_contains(refused, "and not restored it yet: wait for it, or run `plimsoll clean`");

        drop(site.journal);
        assert_eq!(found(restored.setting), restored.other());
        let mut lines = Vec::new();
        for left in abandoned(&state).unwrap() {
            left.undo(&mut |line| lines.push(line.to_owned())).unwrap();
        }
        let seconds = restored.setting.in_words(&restored.other());
        let expected = format!("undone: the kernel's dirty_writeback set to {seconds}");
        assert_eq!(lines.iter().filter(|line| **line == expected).count(), 1, "{lines:?}");
        assert_eq!(found(restored.setting), restored.was);
    }
}
