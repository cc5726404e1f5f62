//! `hosts`: machines beside the one that the program runs on.

use crate::table::*;

pub(crate) const MOST_HOSTS: usize = 1_000;

object! {
    HOST host: "A machine besides the one that `plimsoll run` is started on."
    ssh = Shape::Text { most: 300 }, Optional, "root@db1.example";
        "Destination for the system's `ssh`, with the user's own configuration and keys: what would be typed after `ssh`. The program's own file is \
         copied there once.";
    agent = Shape::Name, Optional, "r6g";
        "Name of an agent on NATS: `plimsoll remote agent --nats URL --name r6g` runs there.";
    command = Shape::list(&Shape::Text { most: 1_000 }, 1, 100), Optional, "[kubectl, exec, -i, db1, --, plimsoll, agent, --stdio]";
        "A command that starts `plimsoll remote agent --stdio` there: in a container, a pod, a namespace.";
    roles = Shape::list(&Shape::choice(&["load", "server"]), 1, 2), Default("[load, server]"), "[server]";
        "What the machine may be used for: `server` to run arms, `load` to generate load.";
    address = Shape::Text { most: 45 }, Optional, "10.0.0.2";
        "The IPv4 address at which the load hosts reach servers on this machine. A server whose load comes from other machines listens there during its \
         run: everybody who reaches that address reaches the server.";
    link = Shape::Bandwidth, Optional, "1.25GB/s";
        "Capacity of its network in each direction: 10 Gbit/s is 1.25GB/s. A physical link reports its own speed; a virtual one reports none, or one \
         that is not enforced. This value counts instead, and makes a saturated link recognisable as the bottleneck.";
    => one of [ssh, agent, command];
}
