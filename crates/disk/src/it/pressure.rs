//! Dirty pages that only the daemon can write, in a group that has no memory left.

use crate::it::laboratory::{Disk, MemoryGroup, Running, daemon_program, disks_and, succeeds};
use plimsoll_record::{DiskLatency, DiskRates, DiskSpec};
use plimsoll_testing::needs;
use std::process::Command;

mod slow {
    use super::*;

    #[test]
    fn more_dirty_pages_than_memory_do_not_hang() {
        let test = "pressure::more_dirty_pages_than_memory_do_not_hang";
        needs!(disks_and(&["losetup", "mkfs.xfs"]));
        let Some(group) = MemoryGroup::new(128 << 20) else {
            plimsoll_testing::skip(test, "there is no control group for memory");
            return;
        };
        let seven = DiskLatency::Constant { ns: 7_000_000 };
        let spec = DiskSpec {
            iops: DiskRates { joint: Some(600.0), ..DiskRates::default() },
            read_latency: seven.clone(),
            write_latency: seven,
            ..DiskSpec::unlimited(1 << 30)
        };
        let disk = Disk::start(&daemon_program(), &spec).unwrap();
        disk.mount_xfs();
        let mut control = disk.control();
        let script = r#"echo $$ > "$1" && dd if=/dev/zero of="$2" bs=1M count=512 && sync "$2""#;
        let file = disk.mount.join("large");
        let mut dd = Running::start(
            Command::new("sh").args(["-c", script, "sh"]).arg(group.door()).arg(&file),
        );
        // Limits come and go under it as well.
        let mut shaped = true;
        let ended_well = dd.ends(|| {
            shaped = !shaped;
            control.shape(shaped).unwrap();
        });
        assert!(ended_well);
        assert_eq!(file.metadata().unwrap().len(), 512 << 20);
        assert!(control.counters().unwrap().written_bytes >= 512 << 20);
        succeeds(Command::new("umount").arg(&disk.mount));
        assert_eq!(disk.take_down(), Vec::<String>::new());
    }
}
