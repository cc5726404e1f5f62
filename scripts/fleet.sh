#!/usr/bin/env bash
# A fleet on one machine: runs an experiment whose hosts are agents, each in a network namespace of its own, so that a file can be tried before machines are rented.
#
#   scripts/fleet.sh FILE [OPTION...]   FILE and the options of `plimsoll run`, such as: studies/processors.yaml --scale hosts --blocks 1
#
# As root. Every agent sees the whole machine: what is tried is the file and the way of the load over the network, not the speed of anything.
#
#   PLIMSOLL=FILE      the program [target/release/plimsoll]
#   PLIMSOLL_SERVERS   a folder with mongod and nats-server, where these are not on PATH [target/servers/bin]
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
plimsoll=${PLIMSOLL:-$target/release/plimsoll}
export PLIMSOLL_SERVERS=${PLIMSOLL_SERVERS:-$root/target/servers/bin}
PATH=$(cd "$(dirname "$plimsoll")" && pwd):$PATH:$PLIMSOLL_SERVERS

die() {
    printf 'fleet: %s\n' "$*" >&2
    exit 1
}

[ $# -gt 0 ] || die "which experiment? scripts/fleet.sh FILE [OPTION...]"
file=$1
[ -f "$file" ] || die "there is no $file"
[ -x "$plimsoll" ] || die "there is no $plimsoll: ./x build"
[ "$(id -u)" -eq 0 ] || die "network namespaces need root"
command -v nats-server >/dev/null || die "there is no nats-server on PATH or in $PLIMSOLL_SERVERS: scripts/servers.sh nats"

# Agents and their addresses, as the file has them: NAME: {agent: NAME, address: ADDRESS, ...}
declare -A addresses=()
free=200
while read -r agent address; do
    [ -n "$address" ] || { address=10.0.0.$((free++)); }
    [[ $address == 10.0.0.* ]] || die "the address of $agent is $address: here every machine is in 10.0.0.0/24"
    addresses[$agent]=$address
done < <(sed -nE 's/^ *[^ #]+: \{agent: ([a-z0-9-]+)(, address: ([0-9.]+))?.*/\1 \3/p' "$file")
[ ${#addresses[@]} -gt 0 ] || die "$file names no hosts as {agent: NAME, address: ADDRESS}"

hub=plimsoll-fleet
agents=("${!addresses[@]}")
namespaces=("$hub" "${agents[@]/#/$hub-}")
made=/run/plimsoll-fleet
# shellcheck source=scripts/namespaces.sh
. "$root/scripts/namespaces.sh"
remove_namespaces "${namespaces[@]}"

work=$(mktemp -d)
started=()
away() {
    [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
    wait || true
    remove_namespaces "${namespaces[@]}"
    rm -rf "$work"
}
trap away EXIT

# within NAMESPACE COMMAND...: runs a command with the network of the namespace. Background programs call nsenter themselves: of a function in the background, $! is the
# subshell, and killing that leaves the program.
within() { nsenter --net="/run/netns/$1" -- "${@:2}"; }

make_namespace "$hub"
ip -n "$hub" link add switch type bridge
ip -n "$hub" addr add 10.0.0.254/24 dev switch
ip -n "$hub" link set switch up
port=0
for agent in "${agents[@]}"; do
    make_namespace "$hub-$agent"
    port=$((port + 1))
    ip -n "$hub" link add "port$port" type veth peer name eth0 netns "$hub-$agent"
    ip -n "$hub" link set "port$port" master switch up
    ip -n "$hub-$agent" addr add "${addresses[$agent]}/24" dev eth0
    ip -n "$hub-$agent" link set eth0 up
done

chosen=()
for agent in "${agents[@]}"; do chosen+=(--agent "$agent"); done
plimsoll remote nats init --listen 10.0.0.254:4222 "${chosen[@]}" --directory "$work/nats" >/dev/null 2>&1
nsenter --net="/run/netns/$hub" -- nats-server --config "$work/nats/nats.conf" >"$work/nats.log" 2>&1 &
started+=($!)
export PLIMSOLL_NATS=nats://10.0.0.254:4222 PLIMSOLL_NATS_SEED=$work/nats/controller.seed
for ((try = 0; ; try++)); do
    within "$hub" plimsoll remote hosts >"$work/hosts.log" 2>&1 && break
    [ "$try" -lt 50 ] || die "nats-server cannot be reached: $(cat "$work/nats.log" "$work/hosts.log")"
    sleep 0.2
done
for agent in "${agents[@]}"; do
    nsenter --net="/run/netns/$hub-$agent" -- env -u PLIMSOLL_NATS_SEED plimsoll remote agent --nats "$PLIMSOLL_NATS" --nats-seed "$work/nats/$agent.seed" --name "$agent" --allow load,server,disk \
        >"$work/$agent.log" 2>&1 &
    started+=($!)
done
for ((try = 0; ; try++)); do
    joined=$(within "$hub" plimsoll remote hosts 2>/dev/null || true)
    missing=()
    for agent in "${agents[@]}"; do grep -qw -- "$agent" <<<"$joined" || missing+=("$agent"); done
    [ ${#missing[@]} -gt 0 ] || break
    [ "$try" -lt 100 ] || die "did not join: ${missing[*]}: $(cat "$work/${missing[0]}.log")"
    sleep 0.2
done
within "$hub" plimsoll run "$@"
