//! The command line of `plimsoll ycsb`. What stands behind the phase is in YCSB's own grammar, and read by `plimsoll-ycsb`.

use clap::Args;

/// `plimsoll ycsb`.
#[derive(Args, Debug)]
#[command(
    override_usage = "plimsoll ycsb <load|run> <mongodb|mongodb-async|basic|wiredtiger> [OPTIONS]",
    after_help = "\
Options, as YCSB has them:
  -P FILE            read a property file; a later one wins over an earlier one
  -p NAME=VALUE      set a property; wins over every file
  -threads N         sessions at the same time (property threadcount)
  -target N          operations per second of all sessions together (property target)
  -s                 status lines on the standard error (properties status, status.interval)
  -l LABEL           in front of every status line (property label)
  -db CLASS          another binding, by the name of YCSB's class
  -t, -load, -cp PATH, -jvm-args ARGS
                     taken and without effect

Examples:
  plimsoll ycsb load mongodb -s -P workloads/workloada -p mongodb.url=mongodb://localhost/ycsb -threads 4
  plimsoll ycsb run mongodb -s -P workloads/workloada -p operationcount=1000000 -target 5000
  plimsoll ycsb load wiredtiger -P workloads/workloadc -p wiredtiger.dir=/data/ycsb

Where it differs from YCSB, on purpose:
  It ends with 106 when operations failed or records are missing, with 2 when the command is wrong, and with
  105 when it was interrupted, after a report of what was measured. YCSB ends with 0 in nearly every case, and
  so does this as bin/ycsb, or with --exit-as-ycsb before load or run.
  The last batch of inserts is sent. Scans that give no record are no failure. Counts have 64 bits.
  RunTime begins when all sessions are connected. With -target, response times from when operations were due
  are reported beside (Intended-READ and so on). -p plimsoll.seed=N asks the same questions again.
Every property, and what becomes of it, is in docs/ycsb.md."
)]
pub struct Ycsb {
    /// End with YCSB's exit codes, as bin/ycsb does: 0 although operations failed, 1 when the command is wrong, 130 when interrupted.
    #[arg(long)]
    pub exit_as_ycsb: bool,
    /// load stores the records, run asks.
    #[arg(value_name = "load|run")]
    pub phase: Option<String>,
    /// A binding and options, in YCSB's grammar.
    #[arg(
        value_name = "BINDING [OPTIONS]",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub words: Vec<String>,
}
