//! An emulated disk for any program: mounted at a directory by a process that stays, and keeps it until it is unmounted.

use super::emulated::name;
use super::folder_of_new;
use super::mounted::find;
use crate::arguments;
use crate::exit::Exit;
use crate::rig::Rigs;
use crate::screen::{print, tell};
use anyhow::{Context, bail};
use plimsoll_disk::{Control, Power};
use plimsoll_experiment::{disk_by_text, timeline_by_text};
use plimsoll_record::quantities::units;
use plimsoll_record::{DiskChoice, DiskSpec, FilesystemSpec, RigSpec};
use plimsoll_rig::testbed::{ShownDisk, shown_at};
use plimsoll_rig::{BuiltRig, Order};
use plimsoll_trace::monotonic_ns;
use std::fs::File;
use std::io::{IsTerminal, Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Interval of looks whether the disk is still mounted.
const LOOK: Duration = Duration::from_millis(200);
/// Looks from one check of all parts to the next.
const LOOKS_OF_A_CHECK: u32 = 25;
/// How long the process that keeps a disk may take to remove it.
const LONGEST_REMOVAL: Duration = Duration::from_secs(60);

/// Starts this command again as a process that stays, and waits until it has mounted the disk or failed.
pub fn in_background() -> anyhow::Result<ExitCode> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    // What it says goes to a file: a pipe that it keeps open would be waited for.
    let mut said = tempfile::tempfile().context("cannot make a temporary file")?;
    let mut keeper = Command::new(program)
        .args(std::env::args_os().skip(1))
        .arg("--in-background")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(said.try_clone()?)
        .process_group(0)
        .spawn()
        .context("cannot start the process that keeps the disk")?;
    let mut mounted = String::new();
    keeper.stdout.take().expect("it is piped").read_to_string(&mut mounted)?;
    if !mounted.is_empty() {
        print(mounted)?;
        return Ok(ExitCode::SUCCESS);
    }
    let ended = keeper.wait()?;
    said.rewind()?;
    let mut why = String::new();
    said.read_to_string(&mut why)?;
    tell(why.trim_end());
    let code = ended.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(Exit::Failed as u8)))
}

/// `plimsoll disk mount`, in the process that stays.
pub fn mount(arguments: &arguments::Mount, rigs: &Rigs) -> anyhow::Result<Exit> {
    let spec = described(arguments)?;
    let timeline = arguments.timeline.as_ref();
    let timeline = timeline.map(|text| timeline_by_text(text, &spec)).transpose()?;
    let directory = &arguments.directory;
    let directory = directory.canonicalize().with_context(|| {
        format!("{}: make an empty directory to mount the disk at", directory.display())
    })?;
    let shown = directory.display();
    if shown_at(&directory)?.is_some() {
        bail!("{shown} is a mounted disk already: plimsoll disk unmount {shown}");
    }
    let stop = Arc::new(AtomicBool::new(false));
    let handler = Arc::clone(&stop);
    ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed))?;
    let process = rigs.get()?;
    process.open(&format!("the disk at {shown}"))?;
    let kind = arguments.filesystem;
    let mount = arguments.mount_options.clone();
    let filesystem = FilesystemSpec { kind, mkfs: Vec::new(), mount };
    let label = shown.to_string().trim_start_matches('/').to_owned();
    let order = Order::Build {
        spec: Box::new(RigSpec {
            disk: Some(DiskChoice::Emulated { spec: spec.clone() }),
            filesystem: Some(filesystem),
            ..RigSpec::default()
        }),
        directory: None,
        owner: "disk".into(),
        label,
        needs_bytes: 0,
        processors: None,
        from: None,
    };
    let rig = process.build(0, order)?;
    rig.shape(true, "mounted")?;
    rig.show(directory.clone())?;
    if let Some(events) = timeline {
        rig.timeline(&events, monotonic_ns())?;
    }
    let sudo = if crate::rights::is_for_another() { "sudo " } else { "" };
    let cut = match arguments.volatile {
        true => format!("cut its power: {sudo}plimsoll disk cut {shown}\n"),
        false => String::new(),
    };
    print(format!(
        "{shown} is a disk {} of {} with {}; its limits are in force\n{cut}unmount it: {sudo}plimsoll disk unmount {shown}\n",
        name(&spec, &arguments.disk),
        units::size(spec.capacity_bytes),
        kind.name(),
    ))?;
    if arguments.in_background {
        let nowhere = File::options().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(nowhere)?;
    }
    let kept = keep(&rig, &directory, &stop, arguments.volatile);
    remove(rig, arguments.trace.as_deref())?;
    kept?;
    if arguments.foreground && std::io::stderr().is_terminal() {
        tell(format_args!("unmounted {shown}; the disk is gone"));
    }
    Ok(Exit::Good)
}

fn described(arguments: &arguments::Mount) -> anyhow::Result<DiskSpec> {
    let mut spec = disk_by_text(&arguments.disk)?;
    if let Some(bytes) = arguments.capacity {
        spec.capacity_bytes = bytes;
    }
    spec.volatile_cache = arguments.volatile;
    match &arguments.trace {
        None => spec.trace_requests = 0,
        Some(file) => {
            let folder = folder_of_new(file)?;
            if !folder.is_dir() {
                bail!("there is no folder {} for the trace", folder.display());
            }
        }
    }
    Ok(spec)
}

/// Until it is unmounted, or this process is to end. After a power cut, its filesystem is mounted again.
fn keep(
    rig: &BuiltRig<'_>,
    directory: &Path,
    stop: &AtomicBool,
    is_volatile: bool,
) -> anyhow::Result<()> {
    let socket = rig.built().control_socket.as_deref().filter(|_| is_volatile);
    let mut control = socket.map(Control::connect).transpose()?;
    let mut looks = 0;
    while !stop.load(Ordering::Relaxed) && shown_at(directory)?.is_some() {
        if let Some(control) = &mut control
            && control.power()? == Power::Off
        {
            let remounted = rig.remount(directory.to_owned());
            control.set_power(remounted.unwrap_or_else(|error| Power::Unmountable {
                users: Vec::new(),
                why: error.to_string(),
            }))?;
        }
        if looks == LOOKS_OF_A_CHECK {
            rig.is_sound()?;
            looks = 0;
        }
        looks += 1;
        std::thread::sleep(LOOK);
    }
    Ok(())
}

fn remove(mut rig: BuiltRig<'_>, trace: Option<&Path>) -> anyhow::Result<()> {
    let left = rig.tear_down()?;
    left.notes.iter().for_each(tell);
    if let (Some(to), Some(from)) = (trace, &left.trace) {
        std::fs::copy(from, to)
            .with_context(|| format!("cannot write the trace to {}", to.display()))?;
    }
    Ok(rig.remove()?)
}

/// `plimsoll disk unmount`, and what is left is removed by the process that keeps the disk.
pub fn unmount(arguments: &arguments::Unmount, rigs: &Rigs) -> anyhow::Result<Exit> {
    let (directory, ShownDisk { place, .. }) = find(&arguments.directory)?;
    rigs.get()?.hide(directory.clone())?;
    let begun = Instant::now();
    while place.exists() {
        if begun.elapsed() > LONGEST_REMOVAL {
            bail!(
                "{} is unmounted, but its disk is still there: plimsoll clean",
                directory.display()
            );
        }
        std::thread::sleep(LOOK);
    }
    print(format!("unmounted {}; the disk is gone\n", directory.display()))?;
    Ok(Exit::Good)
}
