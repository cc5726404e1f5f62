use super::*;
use crate::testbed::laboratory::{LOOPS, LoopDevice, Site, Tmpfs};
use crate::testbed::{TestbedError, abandoned};
use plimsoll_record::{FilesystemKind, LimitsSpec};
use plimsoll_testing::{assert_contains, assert_starts, needs};
use std::process::{Child, Command, Stdio};

impl Site {
    /// A directory without disk and limits, for this much data.
    fn plain(&mut self, needs_bytes: u64) -> Result<Rig, TestbedError> {
        self.with_order(&RigSpec::default(), needs_bytes, Rig::build)
    }

    fn on(&mut self, device: &LoopDevice, spec: &RigSpec) -> Rig {
        let device = Device { path: device.path(), name: device.name.clone(), bytes: 512 << 20 };
        let build =
            |order: &RigOrder<'_>, journal: &mut Journal| Rig::on_device(order, &device, journal);
        self.with_order(spec, 1 << 20, build).unwrap()
    }
}

fn filesystem(kind: FilesystemKind, mount: &[&str]) -> RigSpec {
    RigSpec {
        filesystem: Some(plimsoll_record::FilesystemSpec {
            kind,
            mkfs: Vec::new(),
            mount: mount.iter().map(|word| (*word).to_owned()).collect(),
        }),
        ..RigSpec::default()
    }
}

fn limits(memory_bytes: Option<u64>, cpus: Option<f64>, pin: &[u32]) -> RigSpec {
    RigSpec {
        limits: LimitsSpec { memory_bytes, cpus, pin: pin.to_vec(), ..LimitsSpec::default() },
        ..RigSpec::default()
    }
}

/// A process that is ended when it is dropped.
struct Running(Child);

impl Running {
    fn shell(script: &str) -> Self {
        Self::marked(script, "")
    }

    fn marked(script: &str, mark: &str) -> Self {
        let child = Command::new("sh")
            .env(crate::testbed::MARK_VARIABLE, mark)
            .args(["-c", script])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        Self(child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_plain_directory_is_a_rig_too() {
    let mut site = Site::new();
    let rig = site.plain(1).unwrap();
    assert!(rig.data_directory().is_dir());
    assert_eq!(rig.mount_point(), None);
    assert_eq!(rig.device(), None);
    assert_eq!(rig.record(), RigRecord::default());
    rig.is_sound().unwrap();
    let torn_down = rig.tear_down(&mut site.journal).unwrap();
    assert_eq!(site.left(), 1, "the trace would be in it");
    torn_down.remove(&mut site.journal).unwrap();
    assert_eq!(site.left(), 0);

    drop(site.plain(1).unwrap());
    assert_eq!(site.left(), 0);
    let error = site.plain(u64::MAX).unwrap_err();
    assert!(matches!(error, TestbedError::NotEnoughSpace { .. }));
}

#[test]
fn what_is_in_the_way_is_not_ours_to_undo() {
    let mut site = Site::new();
    let theirs = site.parent().join("plimsoll-e-a-run");
    std::fs::create_dir_all(&theirs).unwrap();
    std::fs::write(theirs.join("letter"), "dear").unwrap();
    let error = site.plain(1).unwrap_err();
    assert!(matches!(error, TestbedError::InTheWay { .. }));
    let state = site.state();
    drop(site.journal);
    assert!(abandoned(&state).unwrap().is_empty());
    assert!(theirs.join("letter").exists());
}

#[test]
fn a_process_that_is_gone_is_not_admitted() {
    let mut site = Site::new();
    let rig = site.plain(1).unwrap();
    let mut child = Running::shell("exit");
    child.0.wait().unwrap();
    let error = rig.admit(child.0.id()).unwrap_err();
    assert!(matches!(error, TestbedError::ProcessGone { .. }), "{error}");
}

mod slow {
    use super::*;

    #[test]
    fn each_filesystem_is_made_mounted_and_gone() {
        needs!(LOOPS);
        for kind in FilesystemKind::ALL {
            let mut site = Site::new();
            let device = LoopDevice::new(site.folder.path(), "disk", 512 << 20);
            let rig = site.on(&device, &filesystem(kind, &["noatime"]));
            let point = rig.mount_point().unwrap().to_owned();
            let mounted = mounts::at(&point).unwrap().unwrap();
            assert_eq!(mounted.kind, kind.name());
            std::fs::write(rig.data_directory().join("records"), "of the engine").unwrap();
            rig.is_sound().unwrap();

            let record = rig.record();
            assert_contains(record.mount_options.unwrap(), "noatime");
            assert_starts(record.mkfs.unwrap(), &format!("mkfs.{}", kind.name()));
            assert!(!record.mkfs_version.unwrap().is_empty());
            assert_eq!(record.device.unwrap(), device.path().to_str().unwrap());
            assert_eq!(rig.device(), Some(device.name.as_str()));

            let torn_down = rig.tear_down(&mut site.journal).unwrap();
            assert_eq!(torn_down.notes, [""; 0]);
            assert_eq!(mounts::at(&point).unwrap(), None);
            torn_down.remove(&mut site.journal).unwrap();
            assert_eq!(site.left(), 0);
            assert!(device.is_attached(), "the device is not ours");

            // Once more, over the existing filesystem, and undone by dropping.
            drop(site.on(&device, &filesystem(kind, &[])));
            assert_eq!(mounts::at(&point).unwrap(), None);
            assert_eq!(site.left(), 0);
        }
    }

    #[test]
    fn a_mount_that_vanishes_is_noticed_and_a_foreign_one_in_its_place_is_left_alone() {
        needs!(LOOPS);
        let mut site = Site::new();
        let device = LoopDevice::new(site.folder.path(), "disk", 64 << 20);
        let rig = site.on(&device, &filesystem(FilesystemKind::Ext4, &[]));
        let point = rig.mount_point().unwrap().to_owned();
        assert!(crate::testbed::privileged::unmount::unmount(&point, false).unwrap());
        assert_starts(rig.is_sound().unwrap_err(), "the mount vanished");

        let theirs = Tmpfs::new(&point);
        std::fs::write(point.join("letter"), "dear").unwrap();
        rig.is_sound().unwrap_err();
        let torn_down = rig.tear_down(&mut site.journal).unwrap();
        assert_contains(&torn_down.notes[0], "not ours; it is left alone");
        let error = torn_down.remove(&mut site.journal).unwrap_err();
        assert!(matches!(error, TestbedError::NotRemoved { .. }), "{error}");
        let letter = std::fs::read_to_string(point.join("letter")).unwrap();
        assert_eq!(letter, "dear");
        // What could not be removed is in the journal, for when it can be.
        drop(theirs);
        let state = site.state();
        let parent = site.parent();
        drop(site.journal);
        let found = abandoned(&state).unwrap();
        assert_eq!(found.len(), 1);
        assert_starts(&found[0].describe()[0], "the data directory");
        found[0].undo(&mut |_| {}).unwrap();
        assert_eq!(std::fs::read_dir(parent).unwrap().count(), 0);
        drop(found);
        assert!(abandoned(&state).unwrap().is_empty());
    }

    #[test]
    fn a_filesystem_that_somebody_uses_is_out_of_sight() {
        needs!(LOOPS);
        let mut site = Site::new();
        let device = LoopDevice::new(site.folder.path(), "disk", 64 << 20);
        let rig = site.on(&device, &filesystem(FilesystemKind::Ext4, &[]));
        let point = rig.mount_point().unwrap().to_owned();
        let kept = std::fs::File::create(rig.data_directory().join("kept")).unwrap();
        let notes = site.undo(rig);
        assert_contains(&notes[0], "still in use by a program");
        assert_eq!(mounts::at(&point).unwrap(), None);
        assert_eq!(site.left(), 0);
        drop(kept);
    }

    #[test]
    fn a_disk_that_fills_up_is_an_error_of_the_writer_and_undone_like_any_other() {
        needs!(LOOPS);
        let mut site = Site::new();
        let device = LoopDevice::new(site.folder.path(), "disk", 32 << 20);
        let rig = site.on(&device, &filesystem(FilesystemKind::Ext4, &[]));
        let zeros = vec![0; 64 << 20];
        let error = std::fs::write(rig.data_directory().join("too-much"), &zeros).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(site.undo(rig), [""; 0]);
        assert_eq!(site.left(), 0);
    }

    #[test]
    fn memory_bounds_a_process_with_its_page_cache() {
        needs!(LOOPS);
        let limit = 32 << 20;
        let mut site = Site::new();
        let mut spec = limits(Some(limit), Some(0.5), &[0]);
        spec.limits.memory_nodes = vec![0];
        let rig = site.build(&spec).unwrap();
        assert_eq!(rig.record().limits.memory_nodes, [0]);
        assert_eq!(rig.record().limits.memory_bytes, Some(limit));
        assert_eq!(rig.record().limits.cpus, Some(0.5));
        assert_eq!(rig.record().limits.pin, [0]);
        let file = rig.data_directory().join("large");
        std::fs::write(&file, vec![1; 96 << 20]).unwrap();
        // What this process has read is charged to it, not to the group.
        let opened = std::fs::File::open(&file).unwrap();
        opened.sync_all().unwrap();
        rustix::fs::fadvise(&opened, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        drop(opened);

        let file = file.display();
        let script = format!("read go; cat '{file}' '{file}' >/dev/null; read end");
        let mut reader = Running::marked(&script, &rig.mark());
        rig.admit(reader.0.id()).unwrap();
        let group = rig.group().unwrap().clone();
        let memory = group.memory.unwrap();
        use std::io::Write;
        reader.0.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
        let (usage, highest) = if group.version == 1 {
            ("memory.usage_in_bytes", "memory.max_usage_in_bytes")
        } else {
            ("memory.current", "memory.peak")
        };
        let read = |name: &str| -> u64 {
            let text = std::fs::read_to_string(memory.join(name)).unwrap();
            text.trim().parse().unwrap()
        };
        let is_filled = || read(usage) > limit / 2;
        let filled = crate::testbed::wait::until(std::time::Duration::from_secs(60), is_filled);
        assert!(filled, "the page cache counts: {} bytes", read(usage));
        assert!(read(highest) <= limit, "{} bytes", read(highest));

        let torn_down = rig.tear_down(&mut site.journal).unwrap();
        assert_eq!(torn_down.notes, [""; 0]);
        assert!(!memory.exists());
        assert_eq!(started_ticks(reader.0.id()), None, "it was ended");
        torn_down.remove(&mut site.journal).unwrap();
    }
}
