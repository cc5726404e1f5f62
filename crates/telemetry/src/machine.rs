use crate::Host;
use crate::host::{chosen, field};
use plimsoll_record::Machine;

/// The flag of personality(2) by which addresses of a process are always the same.
const ADDR_NO_RANDOMIZE: u32 = 0x0040000;

impl Host {
    /// The machine, as far as it bears on results. `program_clock` is left open: only the program knows what it reads.
    pub fn machine(&self) -> Machine {
        let cpuinfo = self.read("proc/cpuinfo").unwrap_or_default();
        let meminfo = self.read("proc/meminfo").unwrap_or_default();
        let memory_bytes = kibibytes(&meminfo, "MemTotal").unwrap_or(0);
        let limits = self.limits();
        Machine {
            cpu_model: cpu_model(&cpuinfo),
            cores: self.cores(&cpuinfo),
            memory_bytes,
            swap_bytes: kibibytes(&meminfo, "SwapTotal").unwrap_or(0),
            kernel: self.kernel(),
            distribution: self.distribution(),
            virtualisation: self.virtualisation(&cpuinfo),
            governor: self.governor(),
            boost: self.boost(),
            transparent_huge_pages: self
                .read("sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|text| chosen(&text).map(str::to_owned)),
            layout_is_random: self.layout_is_random(),
            clock_source: self
                .read("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            program_clock: None,
            memory_limit_bytes: limits.memory_bytes,
            cpu_limit: limits.cpus,
            foreign: None,
        }
    }

    /// Unless the kernel does that for nobody, or not for this process and those that it starts.
    fn layout_is_random(&self) -> Option<bool> {
        let of_kernel = self.number("proc/sys/kernel/randomize_va_space")?;
        let own = self.read("proc/self/personality");
        let own = own.and_then(|text| u32::from_str_radix(text.trim(), 16).ok());
        let is_exempt = own.is_some_and(|flags| flags & ADDR_NO_RANDOMIZE != 0);
        Some(of_kernel != 0 && !is_exempt)
    }

    fn kernel(&self) -> Option<String> {
        let release = self.read("proc/sys/kernel/osrelease")?;
        match self.read("proc/sys/kernel/version") {
            Some(build) => Some(format!("{release} {build}")),
            None => Some(release),
        }
    }

    /// The file format is that of os-release(5): shell assignments, quoted or not.
    fn distribution(&self) -> Option<String> {
        let text = self.read("etc/os-release").or_else(|| self.read("usr/lib/os-release"))?;
        let value = |key: &str| {
            text.lines().find_map(|line| {
                let value = line.strip_prefix(key)?.strip_prefix('=')?;
                Some(value.trim_matches(|letter| letter == '"' || letter == '\'').to_owned())
            })
        };
        value("PRETTY_NAME").or_else(|| value("NAME"))
    }

    fn cores(&self, cpuinfo: &str) -> u32 {
        let processors = match self.processors() {
            Some(processors) => processors.len(),
            None => {
                let lines = cpuinfo.lines();
                lines.filter(|line| line.starts_with("processor")).count()
            }
        };
        u32::try_from(processors).unwrap_or(u32::MAX)
    }

    /// Every governor that any processor has.
    fn governor(&self) -> Option<String> {
        let mut governors: Vec<String> = self
            .names("sys/devices/system/cpu")
            .iter()
            .filter_map(|cpu| {
                self.read(format!("sys/devices/system/cpu/{cpu}/cpufreq/scaling_governor"))
            })
            .collect();
        governors.sort();
        governors.dedup();
        (!governors.is_empty()).then(|| governors.join(" and "))
    }

    fn boost(&self) -> Option<bool> {
        if let Some(boost) = self.number("sys/devices/system/cpu/cpufreq/boost") {
            return Some(boost == 1);
        }
        let no_turbo = self.number("sys/devices/system/cpu/intel_pstate/no_turbo")?;
        Some(no_turbo == 0)
    }
}

/// Arm processors have numbers instead of a name.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    if let Some(name) = field(cpuinfo, "model name") {
        return Some(name.to_owned());
    }
    let implementer = field(cpuinfo, "CPU implementer")?;
    let part = field(cpuinfo, "CPU part")?;
    Some(format!("Arm implementer {implementer} part {part}"))
}

fn kibibytes(meminfo: &str, key: &str) -> Option<u64> {
    let number = field(meminfo, key)?.strip_suffix("kB")?;
    Some(number.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn a_server_without_hypervisor() {
        let tree = Tree::new(&[
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz\nflags\t\t: fpu tsc\n\n\
                 processor\t: 1\nmodel name\t: Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz\nflags\t\t: fpu tsc\n",
            ),
            (
                "proc/meminfo",
                "MemTotal:       65536000 kB\nMemFree:  1 kB\nSwapTotal:       2097148 kB\n",
            ),
            (
                "proc/self/status",
                "Name:\tplimsoll\nCpus_allowed:\tff0f\nCpus_allowed_list:\t0-3,8-15\n",
            ),
            ("proc/sys/kernel/osrelease", "6.1.0-26-amd64\n"),
            ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.112-1 (2024-09-30)\n"),
            (
                "etc/os-release",
                "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n",
            ),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("proc/sys/kernel/randomize_va_space", "2\n"),
        ]);
        let expected = Machine {
            cpu_model: Some("Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz".to_owned()),
            cores: 12,
            memory_bytes: 65_536_000 * 1024,
            swap_bytes: 2_097_148 * 1024,
            kernel: Some(
                "6.1.0-26-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.112-1 (2024-09-30)".to_owned(),
            ),
            distribution: Some("Debian GNU/Linux 12 (bookworm)".to_owned()),
            virtualisation: None,
            governor: Some("performance and powersave".to_owned()),
            boost: Some(true),
            transparent_huge_pages: Some("always".to_owned()),
            layout_is_random: Some(true),
            clock_source: Some("tsc".to_owned()),
            ..Machine::default()
        };
        assert_eq!(tree.host().machine(), expected);
    }

    #[test]
    fn a_layout_is_the_same_for_all_by_the_kernel_or_for_those_that_are_started_so() {
        let random = |kernel: &'static str, own: &'static str| {
            let tree = Tree::new(&[
                ("proc/sys/kernel/randomize_va_space", kernel),
                ("proc/self/personality", own),
            ]);
            tree.host().machine().layout_is_random
        };
        assert_eq!(random("2\n", "00000000\n"), Some(true));
        assert_eq!(random("0\n", "00000000\n"), Some(false));
        // As under `setarch --addr-no-randomize`.
        assert_eq!(random("2\n", "00040000\n"), Some(false));
    }

    #[test]
    fn an_arm_processor_has_numbers_for_a_name() {
        let tree = Tree::new(&[
            (
                "proc/cpuinfo",
                "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\nprocessor\t: 1\n",
            ),
            ("sys/devices/system/cpu/cpufreq/boost", "0\n"),
            ("usr/lib/os-release", "NAME=Alpine\n"),
        ]);
        let machine = tree.host().machine();
        let expected = Some("Arm implementer 0x41 part 0xd0c");
        assert_eq!(machine.cpu_model.as_deref(), expected);
        assert_eq!(machine.cores, 2, "counted in cpuinfo for want of a list of allowed ones");
        assert_eq!(machine.boost, Some(false));
        assert_eq!(machine.distribution.as_deref(), Some("Alpine"));
    }

    #[test]
    fn a_machine_that_shows_nothing_is_left_open() {
        assert_eq!(Tree::new(&[]).host().machine(), Machine::default());
    }

    #[test]
    fn this_machine_has_a_processor_and_memory() {
        let machine = Host::here().machine();
        assert!(machine.cores >= 1);
        assert!(machine.memory_bytes > 0);
    }
}
