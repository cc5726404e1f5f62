//! A place of its own for each test: a folder with a store, data directories and experiment files, and the program to run in it.

use plimsoll_record::{ExperimentRecord, RunRecord, RunState, Slice, Status};
use plimsoll_store::Store;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for something that takes milliseconds on an idle machine, or for a command to end, which may start many servers on a loaded one. Only a
/// broken program or machine needs this long.
const PATIENCE: Duration = Duration::from_secs(600);

/// The variable by which the processes of a laboratory are found again.
pub const MARK: &str = "PLIMSOLL_TEST_LABORATORY";

/// A folder of its own. When it is dropped, nothing may be left behind: no data directory and no process.
pub struct Laboratory {
    folder: tempfile::TempDir,
}

/// What the program said and how it ended.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A program that is still running, its talk going to files.
pub struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

/// The file of the page that the end of a result names.
pub fn page_of(out: &str) -> PathBuf {
    let link = out.lines().rev().find_map(|line| line.strip_prefix("Page: "));
    let link = link.unwrap_or_else(|| panic!("{out}"));
    url::Url::parse(link).unwrap().to_file_path().unwrap()
}

/// Whether a slice of a point is there.
pub fn has_slices(record: &ExperimentRecord) -> bool {
    let mut points = record.runs.iter().flat_map(|run| &run.points);
    points.any(|point| !point.slices.is_empty())
}

impl Laboratory {
    pub fn new() -> Self {
        // Workers and servers of root are nobody, who must pass through.
        let passable = fs::Permissions::from_mode(0o711);
        let mut folder = tempfile::Builder::new();
        Self { folder: folder.permissions(passable).tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The program with these arguments, in the folder, with an environment of its own.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("XDG_STATE_HOME", self.path(".local/state"))
            .env("LC_ALL", "C.UTF-8")
            .env(MARK, self.folder.path())
            // Which a worker keeps, so that it is known as one of this laboratory.
            .env("TMPDIR", self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(arguments).output().unwrap())
    }

    /// Runs `plimsoll run` on an experiment of this text, and prints all of its result.
    pub fn experiment(&self, text: impl AsRef<[u8]>) -> Said {
        self.write("experiment.yaml", text);
        self.run(&["run", "experiment.yaml", "--all"])
    }

    /// Starts the program and comes back at once.
    pub fn start(&self, arguments: &[&str]) -> Running {
        self.start_with(arguments, Vec::new())
    }

    /// The same with more in its environment.
    pub fn start_with(
        &self,
        arguments: &[&str],
        environment: Vec<(&'static str, OsString)>,
    ) -> Running {
        self.start_into((self.path("out"), self.path("err")), arguments, environment)
    }

    /// Starts a program whose talk goes to files of its own, `NAME-out` and `NAME-err`, so that another can be started beside it.
    pub fn start_apart(&self, name: &str, arguments: &[&str]) -> Running {
        let file = |end: &str| self.path(&format!("{name}-{end}"));
        let files = (file("out"), file("err"));
        self.start_into(files, arguments, Vec::new())
    }

    fn start_into(
        &self,
        (out, err): (PathBuf, PathBuf),
        arguments: &[&str],
        environment: Vec<(&'static str, OsString)>,
    ) -> Running {
        let child = self
            .command(arguments)
            .envs(environment)
            .stdout(fs::File::create(&out).unwrap())
            .stderr(fs::File::create(&err).unwrap())
            .spawn()
            .unwrap();
        Running { child, out, err }
    }

    pub fn store(&self) -> PathBuf {
        self.path("data/plimsoll/plimsoll.db")
    }

    /// The last record in the store.
    pub fn record(&self) -> ExperimentRecord {
        Store::open_read_only(&self.store()).unwrap().load("last").unwrap()
    }

    /// The same, while a program may not even have made the store.
    pub fn record_so_far(&self) -> Option<ExperimentRecord> {
        Store::open_read_only(&self.store()).ok()?.load("last").ok()
    }

    /// Starts `plimsoll run` on an experiment of this text.
    pub fn start_experiment(&self, text: impl AsRef<[u8]>) -> Running {
        self.write("experiment.yaml", text);
        self.start(&["run", "experiment.yaml"])
    }

    /// Waits until the last record is so, and returns it; `None` when the program ended first.
    pub fn wait_for_record(
        &self,
        running: &mut Running,
        so: impl Fn(&ExperimentRecord) -> bool,
    ) -> Option<ExperimentRecord> {
        let mut found = None;
        wait_until("the record to get there", || {
            let ended = running.child.try_wait().unwrap().is_some();
            found = self.record_so_far().filter(|record| so(record));
            found.is_some() || ended
        });
        found
    }

    /// Where data directories are made when the experiment does not say.
    pub fn data_parent(&self) -> PathBuf {
        self.path("cache/plimsoll/data")
    }

    pub fn data_directories(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.data_parent()) else {
            return Vec::new();
        };
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// The living processes of this laboratory: those that know its folder, by the mark in their environment or, as servers do that inherit none, by
    /// their home or their arguments.
    pub fn processes(&self) -> Vec<u32> {
        let folder = self.folder.path().as_os_str().as_bytes();
        let is_ours = |process: &u32| {
            ["environ", "cmdline"].iter().any(|file| {
                let known = fs::read(format!("/proc/{process}/{file}")).unwrap_or_default();
                known.windows(folder.len()).any(|part| part == folder)
            })
        };
        all_processes().into_iter().filter(is_ours).collect()
    }

    /// What was said, with everything that differs from one machine or time to the next replaced, and without who else uses the machine.
    pub fn plain(&self, text: &str) -> String {
        let folder = fs::canonicalize(self.folder.path()).unwrap();
        let lines = text.split_inclusive('\n');
        let about_us = lines.filter(|line| !line.starts_with("other programs use "));
        about_us
            .collect::<String>()
            .replace(&folder.display().to_string(), "[folder]")
            .replace(&self.folder.path().display().to_string(), "[folder]")
    }
}

impl Drop for Laboratory {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for process in self.processes() {
                send(process, Signal::KILL);
            }
            return;
        }
        wait_until("the workers to end", || self.processes().is_empty());
        let expected = Vec::<PathBuf>::new();
        assert_eq!(self.data_directories(), expected, "data was left behind");
    }
}

impl Running {
    /// The process id of the program.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The worker process, if there is one at this moment.
    pub fn worker(&self) -> Option<u32> {
        self.child_of("worker")
    }

    /// The process that makes rigs, if there is one.
    #[cfg(feature = "wiredtiger")]
    pub fn rig(&self) -> Option<u32> {
        self.child_of("rig")
    }

    /// Kills the program and the process that would undo what it has made.
    #[cfg(feature = "wiredtiger")]
    pub fn crash(self) -> Said {
        // So that it does not undo it itself meanwhile.
        self.send(Signal::STOP);
        if let Some(rig) = self.rig() {
            send(rig, Signal::KILL);
        }
        self.send(Signal::KILL);
        self.end()
    }

    pub fn child_of(&self, command: &str) -> Option<u32> {
        child(self.child.id(), command)
    }

    pub fn send(&self, signal: Signal) {
        send(self.child.id(), signal);
    }

    /// Waits for the end of the program.
    pub fn end(mut self) -> Said {
        let mut status = None;
        wait_until("the program to end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        Said {
            code: status.unwrap().code(),
            out: fs::read_to_string(&self.out).unwrap(),
            err: fs::read_to_string(&self.err).unwrap(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only after a failed assertion is it still there.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A child of a process that is this program with this command.
pub fn child(of: u32, command: &str) -> Option<u32> {
    let is_it = |process: &u32| {
        let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let word = words.split(|byte| *byte == 0).nth(1);
        parent(*process) == Some(of) && word == Some(command.as_bytes())
    };
    all_processes().into_iter().find(is_it)
}

/// Sends a signal to a process, which may be gone.
pub fn send(process: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(process.try_into().unwrap()) {
        let _ = kill_process(pid, signal);
    }
}

fn all_processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

pub fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

/// Asks until it is so.
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(begin.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Does it until it comes to something: for what must catch a program at a moment that may have passed.
pub fn try_until<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    for _ in 0..10 {
        if let Some(result) = attempt() {
            return result;
        }
    }
    panic!("ten times too late");
}

/// A filesystem in memory of this many bytes, mounted until it is dropped.
pub struct Mounted(PathBuf);

impl Mounted {
    pub fn tmpfs(path: &Path, size: &str) -> Self {
        fs::create_dir_all(path).unwrap();
        let options = format!("size={size},mode=755");
        mount(&["-t", "tmpfs", "-o", &options, "tmpfs"], path);
        Self(path.to_owned())
    }

    /// The folder once more, for reading alone.
    pub fn read_only(folder: &Path, path: &Path) -> Self {
        fs::create_dir_all(path).unwrap();
        mount(&["--bind", folder.to_str().unwrap()], path);
        let mounted = Self(path.to_owned());
        mount(&["-o", "remount,ro,bind"], path);
        mounted
    }

    pub fn grow(&self, size: &str) {
        mount(&["-o", &format!("remount,size={size}")], &self.0);
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.0).status().unwrap();
        assert!(unmounted.success() || std::thread::panicking());
    }
}

fn mount(arguments: &[&str], path: &Path) {
    let mounted = Command::new("mount").args(arguments).arg(path).status().unwrap();
    assert!(mounted.success(), "mount {arguments:?} {}", path.display());
}

/// How a run stands, in a word.
pub fn state(run: &RunRecord) -> &'static str {
    match run.state {
        RunState::Started => "started",
        RunState::Finished => "finished",
        RunState::Interrupted => "interrupted",
        RunState::Failed { .. } => "failed",
    }
}

/// How the runs of a record stand: arm, block, attempt and state of each.
pub fn runs(record: &ExperimentRecord) -> Vec<(&str, u32, u32, &'static str)> {
    let runs = record.runs.iter();
    runs.map(|run| (run.arm.as_str(), run.block, run.attempt, state(run))).collect()
}

pub fn finished(record: &ExperimentRecord) -> usize {
    let runs = record.runs.iter();
    runs.filter(|run| run.state == RunState::Finished).count()
}

/// Operations of a name that ended so, over these slices.
pub fn count<'a>(
    slices: impl IntoIterator<Item = &'a Slice>,
    operation: &str,
    status: Status,
) -> u64 {
    let mut sum = 0;
    for slice in slices {
        for part in &slice.operations {
            if part.operation.name() == operation && part.status == status {
                sum += part.latencies.count();
            }
        }
    }
    sum
}
