//! What may be made on a machine that an agent serves.

use plimsoll_record::{DiskChoice, RigSpec};

/// What may be made. Directories and limits always may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    pub server: bool,
    /// Emulated disks and filesystems may be made, and settings of the kernel changed: like disks, they need root and concern the whole machine.
    pub disk: bool,
    /// Block devices may be erased that an experiment names.
    pub erase: bool,
}

impl Allowed {
    /// Everything: the program works for the user who started it.
    pub const ALL: Self = Self { server: true, disk: true, erase: true };

    /// Why a rig may not be made here, if it may not.
    pub fn refuses(self, spec: &RigSpec) -> Option<String> {
        let lacks = match &spec.disk {
            Some(DiskChoice::Device { .. }) if !self.erase => Some("erase"),
            Some(DiskChoice::Emulated { .. }) if !self.disk => Some("disk"),
            _ if !spec.kernel.is_empty() && !self.disk => Some("disk"),
            _ if spec.server.is_some() && !self.server => Some("server"),
            _ => None,
        };
        lacks.map(|word| format!("the agent here was started without --allow {word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::{DiskSpec, KernelSetting};

    #[test]
    fn each_word_allows_its_part_and_no_more() {
        let none = Allowed { server: false, disk: false, erase: false };
        let emulated = RigSpec {
            disk: Some(DiskChoice::Emulated { spec: DiskSpec::unlimited(1 << 20) }),
            ..RigSpec::default()
        };
        let device = RigSpec {
            disk: Some(DiskChoice::Device { path: "/dev/disk/by-id/x".into() }),
            ..RigSpec::default()
        };
        let kernel = RigSpec {
            kernel: [(KernelSetting::Swappiness, "1".to_owned())].into(),
            ..RigSpec::default()
        };
        for (spec, word, allowed) in [
            (&emulated, "disk", Allowed { disk: true, ..none }),
            (&kernel, "disk", Allowed { disk: true, ..none }),
            (&device, "erase", Allowed { erase: true, ..none }),
        ] {
            let why = none.refuses(spec).unwrap();
            assert!(why.ends_with(&format!("--allow {word}")), "{why}");
            assert_eq!(allowed.refuses(spec), None);
        }
        assert!(Allowed { disk: true, ..none }.refuses(&device).is_some());
        assert_eq!(none.refuses(&RigSpec::default()), None);
    }
}
