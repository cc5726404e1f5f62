//! The arguments of `plimsoll imitate`.

use super::{duration, share, uri};
use clap::{Args, ValueHint};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  plimsoll imitate mongodb://db1/shop > shop.yaml
  plimsoll imitate 'mongodb://${USER}:${PASSWORD}@db1/shop' --scale 10% --output shop.yaml
  plimsoll imitate mongodb://db1/shop --server-log mongod.log > shop.yaml
  plimsoll imitate mongodb://db1/shop --server-log mongod.log --check shop.yaml
  plimsoll plan shop.yaml --documents      shows its documents and commands

Variables in the URI are read from the environment. The server is only read: samples of documents, indexes, sizes, counters, profile. No value leaves this program; names do, unless --rename.
The user needs the role read on the database; clusterMonitor adds cache, rates, use of indexes, and operations of profile and log.")]
pub struct Imitate {
    /// The server, such as mongodb://db1/shop.
    #[arg(value_parser = uri)]
    pub uri: String,
    /// The database to imitate [default: that of the URI, otherwise the largest].
    #[arg(long, value_name = "NAME")]
    pub database: Option<String>,
    /// A log of the server (mongod 4.4 or later) in which operations are read [default: the profile, if there is one, otherwise the last lines of the log].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub server_log: Option<PathBuf>,
    /// Time between two readings of the server's counters, e.g. 10m.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10s")]
    pub watch: u64,
    /// Documents, numbers of values and cache as a share of the server's, e.g. 10% [default: such that the data have at most 2 GB].
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub scale: Option<f64>,
    /// Rename database, collections, fields, indexes and operations: c1, c1_f3.
    #[arg(long)]
    pub rename: bool,
    /// Run this file, which imitates the server, on a mongod that is started here and reports every operation, and say how much of the server's time it reproduces. Exit code 99 below 90 %.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["scale", "rename", "output"])]
    pub check: Option<PathBuf>,
    /// Write the file here instead of to the standard output; an existing file is kept.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}
