//! An emulated disk as a block device: the daemon, its FUSE file, and a loop device over it.

use crate::testbed::loops::{self, BackingFile};
use crate::testbed::privileged::kill::end;
use crate::testbed::privileged::rings;
use crate::testbed::processes::{MARK_VARIABLE, is_marked, started_ticks};
use crate::testbed::rig_parts::RigParts;
use crate::testbed::step::Step;
use crate::testbed::tools::find;
use crate::testbed::wait::bounded;
use crate::testbed::{DataDirectory, TestbedError};
use plimsoll_disk::{Control, Daemon, DaemonOrder, DaemonProgram, Way};
use plimsoll_record::{Backing, DiskSpec};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest path of a directory that an emulated disk is in, bytes: the path of a socket may have 107.
pub(crate) const LONGEST_DIRECTORY_BYTES: usize = 107 - SOCKET.len() - 1;

pub(crate) const SOCKET: &str = "control.sock";

/// How long the daemon may take to answer.
const LONGEST_ANSWER: Duration = Duration::from_secs(2);

/// An emulated disk, without limits until they are set.
#[derive(Debug)]
pub(crate) struct EmulatedDisk {
    pub(crate) daemon: Daemon,
    mark: String,
    pub(crate) device: String,
    pub(crate) image: BackingFile,
    pub(crate) mount_point: PathBuf,
    pub(crate) socket: PathBuf,
    pub(crate) trace: Option<PathBuf>,
}

impl EmulatedDisk {
    /// Makes one in a directory.
    ///
    /// The trace is there too. A disk below it sees a trickle of writes from it, 32 bytes for each request, at the kernel's leisure;
    /// memory would be another place, but the trace of a long run is large, and memory is what experiments are short of.
    pub(crate) fn make(
        spec: &DiskSpec,
        directory: &DataDirectory,
        program: &DaemonProgram,
        made: &RigParts,
    ) -> Result<Self, TestbedError> {
        let (mount_point, _) = directory.make("fuse")?;
        let directory = directory.path();
        let order = DaemonOrder {
            spec: spec.clone(),
            mount_point: mount_point.clone(),
            backing_file: (spec.backing == Backing::File).then(|| directory.join("blocks")),
            socket: directory.join(SOCKET),
            trace: (spec.trace_requests > 0).then(|| directory.join("trace")),
            shaped: false,
        };
        let mark = format!("disk-{}-{}", made.journal().token(), made.next_number());
        let marked = marked(program, &mark)?;
        made.making(Step::Daemon { mark: mark.clone(), mount_point: mount_point.clone() })?;
        let daemon = rings::on_while(made, || Ok(Daemon::start(&marked, &order)?))?;
        let image = BackingFile::of(&daemon.image())?;
        made.making(Step::Loop { backing_file: image.clone() })?;
        let device = loops::attach(made.tools(), &image.path)?;
        let disk = Self {
            daemon,
            mark,
            device,
            image,
            mount_point,
            socket: order.socket,
            trace: order.trace,
        };
        let mut control = Control::connect(&disk.socket)?;
        Way::measure(&disk.device_path(), spec, &mut control)?;
        Ok(disk)
    }

    /// Lets go of the limits, so that what is still on its way to the disk does not keep anyone waiting. A daemon that does not answer is
    /// ended for the same reason.
    pub(crate) fn hurry(&self) {
        let socket = self.socket.clone();
        let answered = bounded(LONGEST_ANSWER, move || {
            Control::connect(&socket).and_then(|mut control| control.shape(false))
        });
        if matches!(answered, Some(Ok(()))) {
            return;
        }
        let process = self.daemon.pid();
        if let Some(started) = started_ticks(process) {
            end(process, started, || is_marked(process, &self.mark) == Some(true));
        }
    }

    pub(crate) fn device_path(&self) -> PathBuf {
        Path::new("/dev").join(&self.device)
    }
}

/// The program with a mark in its environment, by which its process is found even when nobody could write down its id any more. `env`
/// becomes the program, so that the process is the same.
fn marked(program: &DaemonProgram, mark: &str) -> Result<DaemonProgram, TestbedError> {
    let mut arguments = vec![format!("{MARK_VARIABLE}={mark}").into(), program.path.clone().into()];
    arguments.extend(program.arguments.iter().cloned());
    Ok(DaemonProgram { path: find("env")?, arguments })
}
