//! Why something could not be made, or not be undone.

use plimsoll_record::{KernelSetting, MOST_MEMBERS};
use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be made, or not be undone.
#[derive(Debug, thiserror::Error)]
pub enum TestbedError {
    /// The environment does not say where a user's passing files belong.
    #[error(
        "no place for data: neither XDG_CACHE_HOME nor HOME is set; name a directory in the experiment file"
    )]
    NoHome,
    /// A server with more members than a replica set may have.
    #[error("a server has 1 to {MOST_MEMBERS} members, not {requested}")]
    Members { requested: u32 },
    /// Something else is where the data should go.
    #[error(
        "{} is in the way: it {reason}; nothing was touched, move it away or name another directory in the experiment file",
        path.display()
    )]
    InTheWay {
        path: PathBuf,
        /// What it is, as in "it …".
        reason: &'static str,
    },
    /// Another live program uses the directory.
    #[error(
        "{} is used by another plimsoll, which its file .plimsoll-data names: wait for it or stop it first",
        path.display()
    )]
    InUse { path: PathBuf },
    /// Another user could exchange what is made or removed in a place.
    #[error("{}", untrusted(path, *why))]
    Untrusted {
        /// The component of the way.
        path: PathBuf,
        /// What is wrong with it.
        why: Untrust,
    },
    /// The mount is not ours to take away.
    #[error("did not unmount {}: it {reason}; look at it and unmount it by hand if it is not needed", path.display())]
    NotUnmounted {
        path: PathBuf,
        /// The reason, as in "it …".
        reason: &'static str,
    },
    /// Programs have files of the filesystem open, or work in it.
    #[error("did not unmount {}: it is used by {}; end that, and run the command again", path.display(), used_by(users))]
    MountInUse {
        path: PathBuf,
        /// Such as `mongod (4711)`; none where it cannot be seen.
        users: Vec<String>,
    },
    /// The directory is not ours to remove.
    #[error("did not remove {}: it {reason}; look at it and remove it by hand if it is not needed", path.display())]
    NotRemoved {
        path: PathBuf,
        /// The reason, as in "it …".
        reason: &'static str,
    },
    #[error(
        "{} has {} free and {} are needed: make room, use less data, or name a directory on another filesystem",
        path.display(),
        Size(*free_bytes),
        Size(*need_bytes)
    )]
    NotEnoughSpace {
        /// The directory that was to hold the data.
        path: PathBuf,
        need_bytes: u64,
        /// Free for this user, bytes.
        free_bytes: u64,
    },
    /// The environment does not say where programs keep what they must remember.
    #[error(
        "no place for the cleanup journal: neither XDG_STATE_HOME nor HOME is set; set one of them"
    )]
    NoStateHome,
    /// A socket in the directory would have too long a path.
    #[error(
        "the path {} is too long for an emulated disk, whose socket is in it: name a directory of at most {longest_bytes} letters in the experiment file",
        path.display()
    )]
    PathTooLong {
        /// The directory that was to hold the data.
        path: PathBuf,
        /// What there is room for.
        longest_bytes: usize,
    },
    /// Only root may do it.
    #[error(
        "{what} needs root: run plimsoll with sudo, or leave it out of the experiment file; arms on a plain directory without limits need no root"
    )]
    NeedsRoot {
        /// What, as in "… needs root".
        what: &'static str,
    },
    /// It is not known what the processes of a group take.
    #[error(
        "this machine's control groups do not tell what memory the processes take, so no page cache can be kept for them: give `limits: {{memory: …}}` in place of `page_cache`"
    )]
    NotAccounted,
    /// A program of the system is missing.
    #[error("{program} is not installed: install the package {package}")]
    Missing { program: String, package: &'static str },
    /// A special file of the kernel is missing.
    #[error("{path} is missing, without which there is no emulated disk: {advice}")]
    NoDevice { path: &'static str, advice: &'static str },
    /// All loop devices are taken, or none may be made.
    #[error(
        "no free loop device: see `losetup --list`, and free unused ones with `losetup --detach`; a container must be given the devices"
    )]
    NoLoopDevice,
    /// The loop device would go through the page cache twice.
    #[error("/dev/{device} does not take direct I/O over {}: name a directory on ext4, xfs or btrfs in the experiment file", backing_file.display())]
    NotDirect { device: String, backing_file: PathBuf },
    /// A program of the system failed.
    #[error("`{command}` failed: {output}")]
    Tool {
        /// As it would be typed.
        command: String,
        output: String,
        /// Its exit code, if it ended by itself.
        code: Option<i32>,
    },
    /// An option that a program of the system is not given.
    #[error(
        "`{option}` is not an option that {program} may be given: only options that name no path and no device are allowed"
    )]
    OptionRefused { program: String, option: String },
    /// The device is not made use of.
    #[error("{} is not touched: it {reason}", path.display())]
    DeviceRefused {
        /// As named in the experiment file.
        path: PathBuf,
        /// What it is, and what to do, as in "it …".
        reason: String,
    },
    /// The disk cannot hold the data.
    #[error("the disk of {} is too small: {} are needed{why}; give it a larger `capacity`, or use less data", Size(*capacity_bytes), Size(*need_bytes))]
    DiskTooSmall {
        /// Its size or the room in its filesystem, bytes.
        capacity_bytes: u64,
        need_bytes: u64,
        /// What for, after a blank, or nothing.
        why: &'static str,
    },
    /// The machine has too little memory for the arm.
    #[error("{what} need {} of memory, and this machine has {}: use less, or keep the disk's blocks in a file with `backing: file`", Size(*need_bytes), Size(*there_bytes))]
    NotEnoughMemory {
        /// What, as in "… need".
        what: &'static str,
        need_bytes: u64,
        there_bytes: u64,
    },
    /// Nothing starts with so little.
    #[error("a memory limit of {} is too small to start a process: give at least {}", Size(*requested_bytes), Size(*least_bytes))]
    LimitTooSmall { requested_bytes: u64, least_bytes: u64 },
    /// The machine has no such processors.
    #[error(
        "{what} were requested, but this machine has the processors {there}: change the limits in the experiment file"
    )]
    NoSuchCpus {
        /// What, as in "… were requested".
        what: String,
        /// As the kernel lists them.
        there: String,
    },
    /// The machine has no such memory node.
    #[error(
        "the memory of NUMA node {node} was requested, but the nodes of this machine that have memory are {there}: change `memory_nodes` in the experiment file"
    )]
    NoSuchNode {
        node: u32,
        /// As the kernel lists them.
        there: String,
    },
    /// There is a disk to make a filesystem on and none is named.
    #[error(
        "the arm has a disk and no filesystem: name one with `filesystem` in the experiment file"
    )]
    NoFilesystem,
    #[error(
        "there are no control groups for the limits (version 2: {why_not_2}; version 1: {why_not_1}): run outside of a container or give it control groups, or leave out the limits"
    )]
    NoGroups {
        /// Why not in version 2.
        why_not_2: String,
        /// Why not in version 1.
        why_not_1: String,
    },
    /// A control group does not take a value.
    #[error("cannot write `{value}` to {}: {source}", file.display())]
    Group { file: PathBuf, value: String, source: io::Error },
    /// The process is gone that was to be put into a group.
    #[error("the process {process} is gone before it was under its limits")]
    ProcessGone { process: u32 },
    /// The process does not say that it is ours.
    #[error("process {process} does not carry the mark of this run")]
    ProcessUnmarked { process: u32 },
    /// A process does not go.
    #[error(
        "the process {process} was killed and does not end: something holds it in the kernel; see `ps -o stat,wchan {process}`"
    )]
    DoesNotEnd { process: u32 },
    #[error(
        "/dev/{device} is still in use: see `lsblk /dev/{device}` and `fuser -v /dev/{device}`"
    )]
    DeviceBusy { device: String },
    #[error(transparent)]
    Disk(#[from] plimsoll_disk::DiskError),
    /// A device has another readahead than was requested.
    #[error(
        "the readahead of {device} is {} kB after {} kB were requested: use a value that the device takes, in whole pages of memory",
        taken_bytes >> 10,
        requested_bytes >> 10
    )]
    ReadaheadRefused { device: String, requested_bytes: u64, taken_bytes: u64 },
    /// A setting of the kernel is not what was requested.
    #[error("`kernel: {{{}: {}}}`: {why}", setting.name(), setting.in_words(value))]
    Kernel { setting: KernelSetting, value: String, why: String },
    /// The process of the emulated disk is gone.
    #[error("the disk daemon died (process {process}); what was measured on it since then is void")]
    DaemonDied { process: u32 },
    /// What a run stands on was unmounted, or covered by another mount.
    #[error("the mount vanished: {} is no longer the filesystem that was made for this run", mount_point.display())]
    MountVanished { mount_point: PathBuf },
    /// The program of a server is nowhere.
    #[error(
        "there is no program {program} for the server {name} {}: install it, or name it in the experiment file with `server: {{program: /path/to/{}}}`",
        Places(looked),
        base_name(program)
    )]
    ServerMissing {
        name: String,
        /// The name or path in the file.
        program: String,
        looked: Vec<PathBuf>,
    },
    /// The user under whom servers run has no way to the program.
    #[error("the server {name} runs as the user {user}, who may not use {} because of {}: put the program where everybody may run it, and name it in the experiment file with `server: {{program: …}}`", program.display(), path.display())]
    ProgramBarred {
        name: String,
        program: PathBuf,
        user: String,
        /// The directory or file that bars the way.
        path: PathBuf,
    },
    /// The user under whom workers and servers run has no way to the data.
    #[error("engines and servers run as the user {user}, who may not pass through {}: name a directory with `directory` in the experiment file that everybody may pass through, such as /var/lib/plimsoll", path.display())]
    Barred {
        user: String,
        /// The directory on the way.
        path: PathBuf,
    },
    /// The kernel ended what was under test.
    #[error(
        "the kernel ended a process under test, because its control group had used up {}: raise `limits: {{{raise}: …}}`, or give the engine a smaller `cache_size`",
        limit_bytes.map_or("its memory".to_owned(), |bytes| format!("the {} MiB of memory that it may use", bytes >> 20))
    )]
    OutOfMemory {
        /// The limit, where it is known.
        limit_bytes: Option<u64>,
        /// The limit in the experiment file that it follows from.
        raise: &'static str,
    },
    /// The server has ended by itself.
    #[error("the server {name} is gone: {how}{}", LastWords(last_words))]
    ServerDied {
        name: String,
        how: String,
        /// The last lines of its log.
        last_words: Vec<String>,
    },
    /// The server takes no connections.
    #[error(
        "the server {name} took no connection at {address} within {seconds} s; give it longer with `server: {{ready_within: …}}` if it needs that{}",
        LastWords(last_words)
    )]
    ServerNotReady {
        name: String,
        address: String,
        seconds: f64,
        /// The last lines of its log.
        last_words: Vec<String>,
    },
    /// What is run after the start of a server did not do its work.
    #[error(
        "the server {name} was started, and the command after that failed: {how}: {command}{}",
        LastWords(last_words)
    )]
    AfterStart {
        name: String,
        /// As it would be typed.
        command: String,
        how: String,
        /// The last lines that it said.
        last_words: Vec<String>,
    },
    /// Nothing could be done to a member of the server.
    #[error("an event on the server {name} could not be carried out: {why}")]
    NotDisturbed { name: String, why: String },
    /// The server had to be killed.
    #[error(
        "the server {name} did not end within {seconds} s after the request, and was killed; give it longer with `server: {{stop_within: …}}` if it needs that{}",
        LastWords(last_words)
    )]
    ServerDoesNotEnd {
        name: String,
        seconds: f64,
        /// The last lines of its log.
        last_words: Vec<String>,
    },
    /// Not everything could be undone.
    #[error("not everything could be undone, and it stays in {}: {}; run `plimsoll clean` when that is remedied", journal.display(), left.join("; "))]
    NotUndone {
        /// Where it is written down.
        journal: PathBuf,
        left: Vec<String>,
    },
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried, as in "cannot …".
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl TestbedError {
    pub(crate) fn io(what: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { what, path: path.to_owned(), source: source.into() }
    }
}

/// Why another user could replace what is made in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untrust {
    /// It belongs to this user.
    Owner(u32),
    /// Its mode lets others change it.
    Others,
    /// Its mode lets others create files in it, though not remove those of others, as in `/tmp`.
    Sticky,
}

fn used_by(users: &[String]) -> String {
    if users.is_empty() { "a program".to_owned() } else { users.join(", ") }
}

/// Who could do what, and what to do about it.
fn untrusted(path: &Path, why: Untrust) -> String {
    let who = match why {
        Untrust::Owner(user) => format!("belongs to user {user}"),
        Untrust::Others | Untrust::Sticky => "can be changed by other users".to_owned(),
    };
    let advice = match why {
        Untrust::Sticky => {
            format!("name a new directory in it, such as {}", path.join("plimsoll").display())
        }
        _ if rustix::process::geteuid().is_root() => format!(
            "as root, name a directory that only root can change, such as {}",
            crate::testbed::place::PLACE_OF_ROOT
        ),
        Untrust::Others => "name another directory, or run `chmod go-w` on this one".to_owned(),
        Untrust::Owner(_) => "name a directory of your own".to_owned(),
    };
    format!(
        "{} {who}, who could replace what plimsoll creates and removes there: {advice}",
        path.display()
    )
}

/// The places that were searched.
struct Places<'a>(&'a [PathBuf]);

impl std::fmt::Display for Places<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let places: Vec<String> = self.0.iter().map(|path| path.display().to_string()).collect();
        match self.0 {
            [] => formatter.write_str("anywhere (PATH is empty)"),
            // A program that was named with its path.
            [path] if !path.is_dir() => formatter.write_str("that could be run"),
            _ => write!(formatter, "in {}", places.join(", ")),
        }
    }
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The end of a log, where there is one.
struct LastWords<'a>(&'a [String]);

impl std::fmt::Display for LastWords<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return formatter.write_str("; it said nothing");
        }
        write!(formatter, "; its last words: {}", self.0.join(" / "))
    }
}

struct Size(u64);

impl std::fmt::Display for Size {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mebibytes = self.0 as f64 / f64::from(1 << 20);
        if mebibytes < 1024.0 {
            write!(formatter, "{mebibytes:.1} MiB")
        } else {
            write!(formatter, "{:.1} GiB", mebibytes / 1024.0)
        }
    }
}
