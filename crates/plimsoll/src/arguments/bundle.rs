//! The arguments of `plimsoll bundle`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
A bundle is a ZIP archive with the page, the experiment file, the record, its analysis, the disk maps of the page, and a manifest with the SHA-256 of each. Its receiver can:
  plimsoll report FILE.plimsoll     verify it and print its result; compare and export take it, too
  plimsoll run FILE.plimsoll        measure the same on another machine
or open page.html in it with any browser (a small one has none: report FILE.plimsoll --page PAGE.html makes it).")]
pub struct Bundle {
    /// Experiment: id or its beginning, name, `last`, or the file of an exported record.
    #[arg(default_value = "last")]
    pub experiment: String,
    /// The new file [default: ./NAME-ID.plimsoll].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub to: Option<PathBuf>,
    /// For a repository, a tenth of the size: without the page and the analysis, which the program makes again, without what fio printed and the histograms of single seconds, with coarse ones of whole points, and
    /// with the beginning of two disk maps. Counts, rates and percentiles stay; what was watched keeps five digits, means move by 0.05 %, curves over all runs by 1.6 % at
    /// most, and how response times were spread over the seconds of a run is not known any more.
    #[arg(long)]
    pub small: bool,
}
