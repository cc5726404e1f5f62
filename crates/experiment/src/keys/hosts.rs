//! `hosts`: machines beside the one that the program runs on.

use crate::table::*;

pub(crate) const MOST_HOSTS: usize = 1_000;

object! {
    HOST host: "A machine beside the one that `plimsoll run` is started on."
    ssh = Shape::Text { most: 300 }, Optional, "root@db1.example";
        "It is reached with the system's `ssh` and the user's own configuration and keys; what would be typed behind `ssh`. The program's own file is copied \
         there once.";
    agent = Shape::Name, Optional, "r6g";
        "It is reached over NATS: `plimsoll agent --nats URL --name r6g` runs there.";
    command = Shape::list(&Shape::Text { most: 1_000 }, 1, 100), Optional, "[kubectl, exec, -i, db1, --, plimsoll, agent, --stdio]";
        "It is reached by a command that starts `plimsoll agent --stdio` there: a container, a pod, a namespace.";
    roles = Shape::list(&Shape::choice(&["load", "server"]), 1, 2), Default("[load, server]"), "[server]";
        "What it may be used for: `server` for arms that stand on it, `load` to ask them.";
    address = Shape::Text { most: 45 }, Optional, "10.0.0.2";
        "The IPv4 address at which the load hosts reach servers on it. A server whose load comes from other machines listens there, for the time of its run: anybody who reaches that address reaches the server.";
    link = Shape::Bandwidth, Optional, "1.25GB/s";
        "What its network carries each way: 10 Gbit/s is 1.25GB/s. The link of a physical machine tells its own speed; that of a virtual one does not, or tells one that nothing keeps to. \
         What is said here counts instead, and is how a full link can be told from other causes.";
    => one of [ssh, agent, command];
}
