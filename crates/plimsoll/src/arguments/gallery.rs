//! The arguments of `plimsoll gallery`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll gallery public                          the newest finished experiment of each name
  plimsoll gallery public quickstart 1f3a a.plimsoll --bundles --title \"Our databases\"

The folder holds index.html, a page for each result, and with --bundles a bundle of each: static files for any web server. The same command again
replaces what it wrote, and nothing else: what it wrote stands in .plimsoll-gallery.")]
pub struct Gallery {
    /// Folder, made if it is missing.
    #[arg(value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// Experiments: ids or their beginnings, names, `last`, records, bundles [default: the newest finished one of each name].
    pub experiments: Vec<String>,
    /// Heading above the list of results.
    #[arg(long, default_value = "Results")]
    pub title: String,
    /// Add a bundle of each result.
    #[arg(long)]
    pub bundles: bool,
}
