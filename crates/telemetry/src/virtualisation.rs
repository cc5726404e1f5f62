//! Whether the machine is virtual, and the container it is in.

use crate::Host;
use crate::host::field;

/// What the firmware of virtual machines calls itself, for processors that do not say whether they are virtual. Bare machines of the
/// same sellers are distinguished in [`Host::hypervisor`].
const FIRMWARE_OF_GUESTS: [&str; 9] = [
    "QEMU",
    "KVM",
    "VMware",
    "innotek GmbH",
    "Xen",
    "Parallels",
    "Apple Virtualization",
    "Amazon EC2",
    "Google",
];

/// Parts of the control groups of containers, and whose they are.
const GROUPS_OF_CONTAINERS: [(&str, &str); 5] = [
    ("kubepods", "Kubernetes"),
    ("docker", "Docker"),
    ("libpod", "Podman"),
    ("lxc", "LXC"),
    ("containerd", "containerd"),
];

impl Host {
    /// Hypervisor and container, `None` on bare metal.
    pub(crate) fn virtualisation(&self, cpuinfo: &str) -> Option<String> {
        match (self.hypervisor(cpuinfo), self.container()) {
            (Some(hypervisor), Some(container)) => {
                Some(format!("{hypervisor}, {container} container"))
            }
            (Some(hypervisor), None) => Some(hypervisor),
            (None, Some(container)) => Some(format!("{container} container")),
            (None, None) => None,
        }
    }

    fn hypervisor(&self, cpuinfo: &str) -> Option<String> {
        let vendor = self.read("sys/class/dmi/id/sys_vendor");
        let product = self.read("sys/class/dmi/id/product_name").unwrap_or_default();
        let says_so = match field(cpuinfo, "flags") {
            // x86: set by every hypervisor, by convention.
            Some(flags) => flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"),
            None => {
                let known = FIRMWARE_OF_GUESTS
                    .iter()
                    .any(|name| vendor.as_deref().is_some_and(|vendor| vendor.contains(name)));
                let microsoft = product.contains("Virtual Machine");
                (known || microsoft) && !product.contains("metal")
            }
        };
        let kind = self.read("sys/hypervisor/type").map(|kind| match kind.as_str() {
            "xen" => "Xen".to_owned(),
            _ => kind,
        });
        if !says_so && kind.is_none() {
            return None;
        }
        let kind =
            kind.or_else(|| self.hypervisor_by_clock()).unwrap_or_else(|| "hypervisor".to_owned());
        match vendor {
            Some(vendor) => Some(format!("{kind} ({})", format!("{vendor} {product}").trim_end())),
            None => Some(kind),
        }
    }

    /// Guests have a clock source of their hypervisor, whether they use it or not.
    fn hypervisor_by_clock(&self) -> Option<String> {
        let sources =
            self.read("sys/devices/system/clocksource/clocksource0/available_clocksource")?;
        for (source, hypervisor) in [("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")] {
            if sources.contains(source) {
                return Some(hypervisor.to_owned());
            }
        }
        None
    }

    fn container(&self) -> Option<String> {
        if self
            .read("proc/sys/kernel/osrelease")
            .is_some_and(|release| release.contains("microsoft"))
        {
            return Some("WSL".to_owned());
        }
        let groups = self.read("proc/1/cgroup").unwrap_or_default();
        for (part, container) in GROUPS_OF_CONTAINERS {
            if groups.contains(part) {
                return Some(container.to_owned());
            }
        }
        // With a namespace of their own, containers see no control group above theirs.
        if self.exists(".dockerenv") {
            return Some("Docker".to_owned());
        }
        if self.exists("run/.containerenv") {
            return Some("Podman".to_owned());
        }
        self.read("run/systemd/container")
    }
}

#[cfg(test)]
mod tests {
    use crate::tree::Tree;

    fn virtualisation(files: &[(&str, &str)]) -> Option<String> {
        Tree::new(files).host().machine().virtualisation
    }

    const X86_GUEST: (&str, &str) = ("proc/cpuinfo", "processor : 0\nflags : fpu hypervisor tsc\n");
    const X86_BARE: (&str, &str) = ("proc/cpuinfo", "processor : 0\nflags : fpu tsc\n");
    const ARM: (&str, &str) = ("proc/cpuinfo", "processor : 0\nFeatures : fp asimd\n");
    const CLOCKS: &str = "sys/devices/system/clocksource/clocksource0/available_clocksource";
    const VENDOR: &str = "sys/class/dmi/id/sys_vendor";
    const PRODUCT: &str = "sys/class/dmi/id/product_name";

    #[test]
    fn guests_on_x86_are_known_by_a_flag() {
        assert_eq!(virtualisation(&[X86_GUEST]).unwrap(), "hypervisor");
        let found = virtualisation(&[X86_GUEST, (CLOCKS, "tsc kvm-clock acpi_pm\n")]).unwrap();
        assert_eq!(found, "KVM");
        let amazon = [
            X86_GUEST,
            (CLOCKS, "kvm-clock tsc"),
            (VENDOR, "Amazon EC2\n"),
            (PRODUCT, "m5.large\n"),
        ];
        let expected = "KVM (Amazon EC2 m5.large)";
        assert_eq!(virtualisation(&amazon).unwrap(), expected);
        let azure = [
            X86_GUEST,
            (CLOCKS, "hyperv_clocksource_tsc_page acpi_pm"),
            (VENDOR, "Microsoft Corporation\n"),
            (PRODUCT, "Virtual Machine\n"),
        ];
        let expected = "Hyper-V (Microsoft Corporation Virtual Machine)";
        assert_eq!(virtualisation(&azure).unwrap(), expected);
        let found = virtualisation(&[X86_BARE, ("sys/hypervisor/type", "xen\n")]).unwrap();
        assert_eq!(found, "Xen");
    }

    #[test]
    fn bare_machines_of_sellers_of_guests_are_bare() {
        let found = virtualisation(&[X86_BARE, (VENDOR, "Amazon EC2"), (PRODUCT, "m5.metal")]);
        assert_eq!(found, None);
        let found = virtualisation(&[ARM, (VENDOR, "Amazon EC2"), (PRODUCT, "m6g.metal")]);
        assert_eq!(found, None);
        assert_eq!(virtualisation(&[ARM, (VENDOR, "Ampere"), (PRODUCT, "Altra")]), None);
        assert_eq!(
            virtualisation(&[X86_BARE, (VENDOR, "Microsoft Corporation"), (PRODUCT, "Surface")]),
            None
        );
    }

    #[test]
    fn guests_on_arm_are_known_by_their_firmware() {
        let amazon = [ARM, (VENDOR, "Amazon EC2"), (PRODUCT, "r6g.xlarge")];
        let expected = "hypervisor (Amazon EC2 r6g.xlarge)";
        assert_eq!(virtualisation(&amazon).unwrap(), expected);
        let expected = "hypervisor (QEMU)";
        assert_eq!(virtualisation(&[ARM, (VENDOR, "QEMU")]).unwrap(), expected);
    }

    #[test]
    fn containers_are_known_by_their_groups_and_files() {
        let by_group = [X86_BARE, ("proc/1/cgroup", "4:memory:/docker/0123abcd\n")];
        assert_eq!(virtualisation(&by_group).unwrap(), "Docker container");
        let in_guest =
            [X86_GUEST, (CLOCKS, "kvm-clock"), ("proc/1/cgroup", "0::/kubepods.slice/pod1\n")];
        let expected = "KVM, Kubernetes container";
        assert_eq!(virtualisation(&in_guest).unwrap(), expected);
        let by_file = [X86_BARE, ("proc/1/cgroup", "0::/\n"), (".dockerenv", "")];
        assert_eq!(virtualisation(&by_file).unwrap(), "Docker container");
        let found = virtualisation(&[X86_BARE, ("run/.containerenv", "")]).unwrap();
        assert_eq!(found, "Podman container");
        let named = [X86_BARE, ("run/systemd/container", "systemd-nspawn\n")];
        assert_eq!(virtualisation(&named).unwrap(), "systemd-nspawn container");
        let found = virtualisation(&[X86_BARE, ("proc/1/cgroup", "0::/init.scope\n")]);
        assert_eq!(found, None);
    }
}
