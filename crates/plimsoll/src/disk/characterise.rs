use super::emulated::{by_text, is_disk, name};
use super::progress::ProgressLine;
use crate::arguments;
use crate::exit::Exit;
use crate::rig::Rigs;
use crate::screen::{print, print_drawn, print_json, screen, tell};
use anyhow::{Context, bail};
use plimsoll_report::disk::{DiskLatencies, DiskPicture, DiskRow};
use plimsoll_rig::Characterised;
use plimsoll_rig::fio::{Characterisation, Latencies, Measured, Permission, Profile, Row, Target};
use std::path::Path;

/// `plimsoll disk characterise`: IOPS and latency against block size and requests in flight.
pub fn characterise(arguments: &arguments::Characterise, rigs: &Rigs) -> anyhow::Result<Exit> {
    let profile = profile(arguments);
    let text = arguments.target.as_str();
    let (name, what) = if is_disk(text) {
        if arguments.erase {
            bail!("--erase is for block devices; an emulated disk is the program's own");
        }
        let spec = by_text(text)?;
        let name = name(&spec, text).to_owned();
        (name, Characterised::Emulated(Box::new(spec)))
    } else {
        let target = target(Path::new(text), arguments.erase)?;
        (text.to_owned(), Characterised::Target(target))
    };
    let process = rigs.get()?;
    process.open("characterise")?;
    let mut shown = ProgressLine::new()?;
    let found = process.characterise(what, profile, &mut |note| tell(note), &mut |progress| {
        shown.watch(progress)
    })?;
    drop(shown);
    show(arguments, &name, &found)?;
    Ok(Exit::Good)
}

fn profile(arguments: &arguments::Characterise) -> Profile {
    let blocks = arguments.block.as_deref().unwrap_or(&Profile::STUDY_BLOCKS);
    let threads = arguments.jobs.as_deref().unwrap_or(&Profile::STUDY_THREADS);
    let mut profile = Profile::study(blocks, threads);
    if arguments.quick {
        profile = Profile { size_bytes: 1_000_000_000, ..profile }.lasting(1_000, 200);
    }
    profile.size_bytes = arguments.size.unwrap_or(profile.size_bytes);
    profile
}

/// A directory or a device of this machine.
pub(super) fn target(path: &Path, erase: bool) -> anyhow::Result<Target> {
    if !path.exists() {
        bail!(
            "{} is no directory and no device, and no published disk has that name: see `plimsoll disk presets`",
            path.display()
        );
    }
    let target = Target::read_only(path)?;
    match target {
        Target::Device { path, .. } if erase => {
            Ok(Target::Device { path, permission: Permission::MayBeErased })
        }
        Target::Directory { .. } if erase => {
            bail!(
                "--erase is for block devices; in a directory, only the program's own file is written"
            )
        }
        target => Ok(target),
    }
}

fn show(
    arguments: &arguments::Characterise,
    name: &str,
    found: &Characterisation,
) -> anyhow::Result<()> {
    let picture = DiskPicture {
        name,
        at: &found.at,
        by: &found.fio_version,
        version: env!("CARGO_PKG_VERSION"),
        size_bytes: found.size_bytes,
        rows: found.rows.iter().flat_map(rows).collect(),
    };
    if let Some(file) = &arguments.page {
        plimsoll_record::files::write_whole(
            file,
            plimsoll_report::page::disk::page(&picture).as_bytes(),
        )
        .with_context(|| format!("cannot write the page {}", file.display()))?;
    }
    if arguments.json {
        print_json(found)?;
        return Ok(());
    }
    print_drawn(&plimsoll_report::terminal::disk(&picture, &screen()))?;
    if let Some(file) = &arguments.page {
        print(format_args!("\nPage: {}\n", crate::show::link(file)))?;
    }
    Ok(())
}

fn rows(row: &Row) -> Option<DiskRow> {
    let Measured { reads, writes, syncs } = &row.measured;
    let direction = reads.as_ref().or(writes.as_ref())?;
    Some(DiskRow {
        what: row.job.kind.to_string(),
        block_bytes: row.job.block_bytes,
        in_flight: row.job.in_flight(),
        iops: direction.iops,
        bytes_per_s: direction.bytes_per_s,
        latency: latencies(&direction.latency),
        fsync: syncs.as_ref().map(latencies),
    })
}

fn latencies(of: &Latencies) -> DiskLatencies {
    DiskLatencies { mean_ns: of.mean_ns, p50_ns: of.p50_ns, p99_ns: of.p99_ns, p999_ns: of.p999_ns }
}
