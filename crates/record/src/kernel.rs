//! Settings of the kernel that an arm can have, as its files hold them.

use crate::quantities::units;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The settings of an arm, each with the text that the kernel's file holds: `never`, `60`, `3000`.
pub type KernelSettings = BTreeMap<KernelSetting, String>;

/// The kernel counts times in these, nanoseconds.
pub const CENTISECOND_NS: u64 = 10_000_000;
/// The longest time that is accepted, hundredths of a second: a day.
pub const MOST_CENTISECONDS: u64 = 24 * 60 * 60 * 100;

/// A setting of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelSetting {
    /// Whether memory is given out in pages of 2 MiB: always, where a program asks for it, or never.
    TransparentHugePages,
    /// How readily the kernel takes memory of processes rather than page cache, 0 to 200.
    Swappiness,
    /// Share of the memory, in percent, that may wait to be written before writers are held up.
    DirtyRatio,
    /// Share of the memory, in percent, from which on the kernel writes by itself.
    DirtyBackgroundRatio,
    /// Age from which on data are written, hundredths of a second.
    DirtyExpire,
    /// Interval at which the kernel looks for such data, hundredths of a second; 0 is never.
    DirtyWriteback,
    /// Order of the requests to the disk of the arm.
    Scheduler,
    /// How the frequency of the processors follows their load.
    Governor,
}

/// What the text of a setting is.
enum Form {
    Word,
    Count(RangeInclusive<u64>),
    Percent,
    Centiseconds { least: u64 },
}

/// Each setting with its key in the experiment file and the form of its text.
static SETTINGS: [(KernelSetting, &str, Form); 8] = [
    (KernelSetting::TransparentHugePages, "transparent_huge_pages", Form::Word),
    (KernelSetting::Swappiness, "swappiness", Form::Count(0..=200)),
    (KernelSetting::DirtyRatio, "dirty_ratio", Form::Percent),
    (KernelSetting::DirtyBackgroundRatio, "dirty_background_ratio", Form::Percent),
    (KernelSetting::DirtyExpire, "dirty_expire", Form::Centiseconds { least: 1 }),
    (KernelSetting::DirtyWriteback, "dirty_writeback", Form::Centiseconds { least: 0 }),
    (KernelSetting::Scheduler, "scheduler", Form::Word),
    (KernelSetting::Governor, "governor", Form::Word),
];

impl KernelSetting {
    /// All settings, in the order of the file format.
    pub fn all() -> impl Iterator<Item = Self> {
        SETTINGS.iter().map(|(setting, _, _)| *setting)
    }

    /// The key in the experiment file.
    pub fn name(self) -> &'static str {
        SETTINGS[self as usize].1
    }

    /// Whether there is one for the whole machine, and not one for each disk.
    pub fn is_of_machine(self) -> bool {
        self != Self::Scheduler
    }

    /// A text of the kernel's file as the experiment file has it: `10%`, `30s`.
    pub fn in_words(self, text: &str) -> String {
        let number = text.parse::<u64>().ok();
        match (&SETTINGS[self as usize].2, number) {
            (Form::Percent, Some(percent)) => format!("{percent}%"),
            (Form::Centiseconds { .. }, Some(count)) => {
                units::duration(count.saturating_mul(CENTISECOND_NS))
            }
            _ => text.to_owned(),
        }
    }

    /// Whether a text may be written to the kernel's file: a plain word, or a whole number within bounds.
    pub fn is_valid(self, text: &str) -> bool {
        let bounds = match &SETTINGS[self as usize].2 {
            Form::Word => {
                let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte == b'-' || byte == b'_';
                return (1..=40).contains(&text.len()) && text.bytes().all(is_plain);
            }
            Form::Count(bounds) => bounds.clone(),
            Form::Percent => 1..=100,
            Form::Centiseconds { least } => *least..=MOST_CENTISECONDS,
        };
        text.bytes().all(|byte| byte.is_ascii_digit())
            && text.parse().is_ok_and(|number: u64| bounds.contains(&number))
    }
}

/// Settings in one line, as the experiment file has them: `transparent_huge_pages never, dirty_expire 30s`.
pub fn kernel_line(settings: &KernelSettings) -> Option<String> {
    let words = |(setting, text): (&KernelSetting, &String)| {
        format!("{} {}", setting.name(), setting.in_words(text))
    };
    let parts: Vec<String> = settings.iter().map(words).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_has_its_own_row_and_its_key_in_records() {
        for (place, (setting, name, _)) in SETTINGS.iter().enumerate() {
            assert_eq!(*setting as usize, place);
            assert_eq!(serde_json::to_value(setting).unwrap(), *name);
        }
        assert_eq!(KernelSetting::all().count(), SETTINGS.len());
    }

    #[test]
    fn texts_are_shown_as_they_are_written_in_files() {
        for (setting, text, words) in [
            (KernelSetting::DirtyRatio, "20", "20%"),
            (KernelSetting::DirtyExpire, "3000", "30s"),
            (KernelSetting::DirtyWriteback, "0", "0s"),
            (KernelSetting::Swappiness, "60", "60"),
            (KernelSetting::Scheduler, "mq-deadline", "mq-deadline"),
        ] {
            assert_eq!(setting.in_words(text), words);
        }
    }

    #[test]
    fn only_plain_words_and_numbers_within_bounds_are_valid() {
        for (setting, text, is_valid) in [
            (KernelSetting::TransparentHugePages, "never", true),
            (KernelSetting::TransparentHugePages, "", false),
            (KernelSetting::TransparentHugePages, "never\nalways", false),
            (KernelSetting::Governor, "../x", false),
            (KernelSetting::Swappiness, "200", true),
            (KernelSetting::Swappiness, "201", false),
            (KernelSetting::Swappiness, "+1", false),
            (KernelSetting::Swappiness, "", false),
            (KernelSetting::DirtyRatio, "0", false),
            (KernelSetting::DirtyExpire, "0", false),
            (KernelSetting::DirtyWriteback, "0", true),
        ] {
            assert_eq!(setting.is_valid(text), is_valid, "{setting:?} {text:?}");
        }
    }
}
