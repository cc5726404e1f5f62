#!/bin/sh
# Limits need control groups below the container's own, which may hold no process then: everything moves into a group of its own first.
# Where the container may not do that, its agent cannot limit anything, and `plimsoll remote hosts` shows that.
groups=/sys/fs/cgroup
if [ -w "$groups/cgroup.procs" ] && mkdir -p "$groups/agent" 2>/dev/null; then
    while read -r process; do
        echo "$process" 2>/dev/null >"$groups/agent/cgroup.procs"
    done <"$groups/cgroup.procs"
fi
exec "$@"
