//! What a block device did.

use crate::kept_file::KeptFile;
use crate::{Figures, Host};
use plimsoll_record::figures;
use std::path::Path;

/// Counts what a device did. Read once a second, and once before.
pub trait DeviceSource: Send {
    /// All since some moment that stays the same, or `None` where the device cannot be read.
    fn totals(&mut self) -> Option<DeviceTotals>;
}

/// What a device did since some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceTotals {
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Time of all reads, summed, nanoseconds.
    pub read_ns: u64,
    /// Time of all writes, summed, nanoseconds.
    pub write_ns: u64,
    /// Time of all flushes, summed, nanoseconds.
    pub flush_ns: u64,
    /// Nanoseconds in which there was something to do.
    pub busy_ns: u64,
    /// Requests in flight, integrated over time, nanoseconds.
    pub queue_ns: u64,
    /// Burst credits left now, of a disk that has them.
    pub credits: Option<f64>,
    /// Whether an emulated disk is as configured now; real ones do not know.
    pub shaped: Option<bool>,
    /// CPU time of the daemon of an emulated disk, nanoseconds.
    pub cpu_ns: Option<u64>,
}

impl DeviceTotals {
    pub(crate) fn tell(&self, into: &mut Figures) {
        let counters = [
            (figures::DEVICE_READS, self.reads),
            (figures::DEVICE_WRITES, self.writes),
            (figures::DEVICE_FLUSHES, self.flushes),
            (figures::DEVICE_READ_BYTES, self.read_bytes),
            (figures::DEVICE_WRITTEN_BYTES, self.written_bytes),
            (figures::DEVICE_READ_TIME, self.read_ns),
            (figures::DEVICE_WRITE_TIME, self.write_ns),
            (figures::DEVICE_FLUSH_TIME, self.flush_ns),
            (figures::DEVICE_BUSY, self.busy_ns),
            (figures::DEVICE_QUEUE, self.queue_ns),
        ];
        into.extend(counters.map(|(name, value)| (name, value as f64)));
        let shaped = self.shaped.map(|shaped| f64::from(u8::from(shaped)));
        into.extend(self.credits.map(|credits| (figures::DEVICE_CREDITS, credits)));
        into.extend(shaped.map(|shaped| (figures::DEVICE_SHAPED, shaped)));
        into.extend(self.cpu_ns.map(|cpu_ns| (figures::DEVICE_CPU, cpu_ns as f64)));
    }
}

/// The kernel's own counters of a block device or of a partition.
///
/// Times are counted in whole milliseconds for each request, and the busy time in ticks of the kernel, so that what is much faster than
/// that is seen only roughly. Kernels before 5.5 do not count flushes: there are none then.
pub struct Diskstats {
    file: KeptFile,
    buffer: Vec<u8>,
}

impl Diskstats {
    /// Watches a device such as `/dev/sda1`, `/dev/disk/by-id/…` or `sda1`. A device that does not exist has no totals.
    pub fn of(device: &str) -> Self {
        Self::on(&Host::here(), device)
    }

    fn on(host: &Host, device: &str) -> Self {
        let path = Path::new("/dev").join(device);
        let real = host.path(&path).canonicalize();
        // Slashes in names are exclamation marks in sysfs.
        let name = match &real {
            Ok(real) => real.strip_prefix(host.path("dev")).unwrap_or(real),
            Err(_) => path.strip_prefix("/dev").unwrap_or(&path),
        };
        let name = name.to_string_lossy().replace('/', "!");
        Self {
            file: KeptFile::open(host, format!("sys/class/block/{name}/stat")),
            buffer: vec![0; 512],
        }
    }
}

impl DeviceSource for Diskstats {
    fn totals(&mut self) -> Option<DeviceTotals> {
        parse(self.file.read(&mut self.buffer)?)
    }
}

/// The fields are described in the kernel's Documentation/block/stat.rst: 11 of them always, then four of discards, then two of flushes.
fn parse(text: &str) -> Option<DeviceTotals> {
    const SECTOR_BYTES: u64 = 512;
    const MILLISECOND: u64 = 1_000_000;
    let mut fields = [0_u64; 17];
    let mut known = 0;
    for (field, word) in fields.iter_mut().zip(text.split_ascii_whitespace()) {
        *field = word.parse().ok()?;
        known += 1;
    }
    if known < 11 {
        return None;
    }
    Some(DeviceTotals {
        reads: fields[0],
        writes: fields[4],
        flushes: fields[15],
        read_bytes: fields[2] * SECTOR_BYTES,
        written_bytes: fields[6] * SECTOR_BYTES,
        read_ns: fields[3] * MILLISECOND,
        write_ns: fields[7] * MILLISECOND,
        flush_ns: fields[16] * MILLISECOND,
        busy_ns: fields[9] * MILLISECOND,
        queue_ns: fields[10] * MILLISECOND,
        credits: None,
        shaped: None,
        cpu_ns: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    const STAT: &str = "  143227    30772  7498970   118788    22248    54299  7350200    34980        0    45744   155467    10813       26   991416     1523     2577      175\n";

    #[test]
    fn fields_are_taken_by_their_place() {
        let expected = DeviceTotals {
            reads: 143_227,
            writes: 22_248,
            flushes: 2_577,
            read_bytes: 7_498_970 * 512,
            written_bytes: 7_350_200 * 512,
            read_ns: 118_788_000_000,
            write_ns: 34_980_000_000,
            flush_ns: 175_000_000,
            busy_ns: 45_744_000_000,
            queue_ns: 155_467_000_000,
            credits: None,
            shaped: None,
            cpu_ns: None,
        };
        assert_eq!(parse(STAT), Some(expected));
        let old = "1 2 3 4 5 6 7 8 9 10 11\n";
        let totals = parse(old).unwrap();
        assert_eq!((totals.queue_ns, totals.flushes), (11_000_000, 0));
        assert_eq!(parse("1 2 3 4"), None);
        assert_eq!(parse("1 2 x 4 5 6 7 8 9 10 11"), None);
    }

    #[test]
    fn a_device_is_found_by_any_of_its_names() {
        let tree = Tree::new(&[
            ("sys/class/block/vdb1/stat", STAT),
            ("sys/class/block/cciss!c0d0/stat", STAT),
            ("dev/vdb1", ""),
            ("dev/disk/by-id/big", "-> ../../vdb1"),
        ]);
        for name in ["/dev/vdb1", "vdb1", "/dev/disk/by-id/big", "/dev/cciss/c0d0"] {
            let totals = Diskstats::on(&tree.host(), name).totals();
            assert_eq!(totals.map(|totals| totals.writes), Some(22_248), "{name}");
        }
        assert_eq!(Diskstats::on(&tree.host(), "/dev/vdc").totals(), None);
    }

    #[test]
    fn every_block_device_of_this_machine_can_be_asked() {
        for name in Host::here().names("sys/class/block") {
            let mut device = Diskstats::of(&name.replace('!', "/"));
            let first = device.totals();
            // A device may be taken away at any time.
            if let (Some(first), Some(second)) = (first, device.totals()) {
                assert!(second.reads >= first.reads, "{name}");
            }
        }
    }
}
