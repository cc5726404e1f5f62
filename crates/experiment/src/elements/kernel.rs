//! `kernel` of an arm: settings of the kernel while the arm runs.

use crate::document::{Checked, Value};
use crate::elements::arm::ReadArm;
use crate::elements::filesystem::lacks_disk;
use crate::elements::rig::RigReader;
use crate::keys::arm::arm;
use crate::keys::kernel::kernel;
use crate::mistake::Mistake;
use crate::table::*;
use plimsoll_plan::{EngineKind, SettingValue};
use plimsoll_record::{CENTISECOND_NS, DiskChoice, KernelSetting, KernelSettings};

const SETTINGS: [(&Key, KernelSetting); 8] = [
    (kernel::transparent_huge_pages, KernelSetting::TransparentHugePages),
    (kernel::swappiness, KernelSetting::Swappiness),
    (kernel::dirty_ratio, KernelSetting::DirtyRatio),
    (kernel::dirty_background_ratio, KernelSetting::DirtyBackgroundRatio),
    (kernel::dirty_expire, KernelSetting::DirtyExpire),
    (kernel::dirty_writeback, KernelSetting::DirtyWriteback),
    (kernel::scheduler, KernelSetting::Scheduler),
    (kernel::governor, KernelSetting::Governor),
];

impl RigReader<'_, '_> {
    /// The settings of the kernel, as its files will hold them.
    pub(crate) fn kernel(
        &mut self,
        path: &str,
        arm: &ReadArm,
        engine: &EngineKind,
        disk: Option<&DiskChoice>,
    ) -> KernelSettings {
        let mut settings = KernelSettings::new();
        let Some(given) = arm.get(arm::kernel) else {
            return settings;
        };
        for (key, setting) in SETTINGS {
            let Some(checked) = given.checked.get(key) else {
                continue;
            };
            if disk.is_none() && setting == KernelSetting::Scheduler {
                if lacks_disk(arm, engine, given) {
                    let path = key.under(&given.path);
                    self.wrong(&path, checked.place, Mistake::SchedulerWithoutDisk);
                }
                continue;
            }
            match text_of(checked) {
                Some(Ok(text)) => {
                    let path = key.under(&arm::kernel.under(path));
                    self.origins.add_file(&path, setting.in_words(&text), checked.place);
                    settings.insert(setting, text);
                }
                Some(Err(step)) => {
                    self.wrong(
                        &key.under(&given.path),
                        checked.place,
                        Mistake::NotInSteps { step },
                    );
                }
                None => {}
            }
        }
        settings
    }
}

/// A value as the kernel's file holds it, or the step that it is no multiple of.
fn text_of(checked: &Checked) -> Option<Result<String, &'static str>> {
    let Value::One(value) = &checked.value else {
        return None;
    };
    match value {
        SettingValue::Text(word) => Some(Ok(word.clone())),
        SettingValue::Count(count) => Some(Ok(count.to_string())),
        SettingValue::Number(share) => {
            let percent = share * 100.0;
            let whole = percent.round();
            let is_whole = (percent - whole).abs() < 1e-6;
            Some(if is_whole { Ok(format!("{whole:.0}")) } else { Err("1 %") })
        }
        SettingValue::Nanos(nanos) if nanos % CENTISECOND_NS == 0 => {
            Some(Ok((nanos / CENTISECOND_NS).to_string()))
        }
        SettingValue::Nanos(_) => Some(Err("10 ms")),
        _ => None,
    }
}
