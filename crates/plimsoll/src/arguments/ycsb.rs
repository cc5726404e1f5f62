//! The command line of `plimsoll foreign ycsb`. What stands behind the phase is in YCSB's own grammar, and read by `plimsoll-ycsb`.

use clap::Args;

#[derive(Args, Debug)]
#[command(
    override_usage = "plimsoll foreign ycsb <load|run> <mongodb|mongodb-async|basic|wiredtiger> [OPTIONS]",
    after_help = "\
YCSB's options:
  -P FILE            read a property file; a later one wins over an earlier one
  -p NAME=VALUE      set a property; wins over every file
  -threads N         concurrent client threads (property threadcount)
  -target N          total operations per second of all threads (property target)
  -s                 status lines on the standard error (properties status, status.interval)
  -l LABEL           prefix of every status line (property label)
  -db CLASS          another binding, by YCSB's class name
  -t, -load, -cp PATH, -jvm-args ARGS
                     accepted without effect

Examples:
  plimsoll foreign ycsb load mongodb -s -P workloads/workloada -p mongodb.url=mongodb://localhost/ycsb -threads 4
  plimsoll foreign ycsb run mongodb -s -P workloads/workloada -p operationcount=1000000 -target 5000
  plimsoll foreign ycsb load wiredtiger -P workloads/workloadc -p wiredtiger.dir=/data/ycsb

Intended differences from YCSB:
  The exit code is 106 if operations failed or records are missing, 2 for a wrong command, and 105 after an
  interruption, with a report of what was measured. YCSB exits with 0 in nearly every case, and so does this
  program as bin/ycsb, or with --exit-as-ycsb before load or run.
  The last batch of inserts is sent. Scans without a result are not failures. Counts have 64 bits.
  RunTime starts once all threads are connected. With -target, response times since the due time are reported
  too (Intended-READ and so on). -p plimsoll.seed=N repeats the same sequence of operations.
docs/ycsb.md lists every property and its effect."
)]
pub struct Ycsb {
    /// Use YCSB's exit codes, as bin/ycsb does: 0 even if operations failed, 1 for a wrong command, 130 after an interruption.
    #[arg(long)]
    pub exit_as_ycsb: bool,
    /// load stores the records, run executes the workload.
    #[arg(value_name = "load|run")]
    pub phase: Option<String>,
    /// A binding and options, in YCSB's syntax.
    #[arg(value_name = "BINDING [OPTIONS]", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}
