#!/usr/bin/env bash
# Causes put to the test: measures every file of studies/causes, each with a bottleneck that was put there, and prints how often it was named.
#
#   scripts/causes.sh [NAME...]   such as disk-iops; without names, all of them: some 50 minutes, as root, on a machine that does nothing else
#
# Each is measured alone, beside a program that needs a processor for three of every six seconds, and beside two that need one each all the time. An experiment
# that was interrupted goes on when this is called again.
#
#   PLIMSOLL=FILE         the program [target/release/plimsoll]
#   CAUSES_STORES=FOLDER  where results are kept [target/causes]
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
plimsoll=${PLIMSOLL:-$target/release/plimsoll}
stores=${CAUSES_STORES:-$target/causes}
page=()
if [ $# -eq 0 ]; then
    page=(docs/methods.md)
    for file in "$root"/studies/causes/*.yaml; do
        name=${file##*/}
        set -- "$@" "${name%.yaml}"
    done
fi

say() { printf 'causes: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

[ -x "$plimsoll" ] || die "there is no $plimsoll: ./x build"
[ "$(id -u)" -eq 0 ] || die "emulated disks, limits and networks need root"
for name; do
    [ -f "$root/studies/causes/$name.yaml" ] || die "there is no studies/causes/$name.yaml"
done
mkdir -p "$stores"
# Agents find program and server there; so does everything that is started here.
export PLIMSOLL_SERVERS=${PLIMSOLL_SERVERS:-$root/target/servers/bin}
PATH=$(cd "$(dirname "$plimsoll")" && pwd):$PLIMSOLL_SERVERS:$PATH

namespaces=(plimsoll-causes-a plimsoll-causes-b)
made=/run/plimsoll-causes
# shellcheck source=scripts/namespaces.sh
. "$root/scripts/namespaces.sh"

# address NETWORK INTERFACE: the first host of the network is in the first namespace, the second in the other.
address() {
    local place
    for place in 0 1; do
        ip -n "${namespaces[place]}" addr add "$1.$((place + 1))/24" dev "$2"
        ip -n "${namespaces[place]}" link set "$2" up
    done
}

# cable LIMITS: two namespaces, a cable with limits and one without.
cable() {
    local namespace limited=(-n "${namespaces[1]}" qdisc add dev limited root tbf)
    for namespace in "${namespaces[@]}"; do
        make_namespace "$namespace"
    done
    case $1 in
    network-delay)
        coproc wire { exec "$root/scripts/wire.py" "${namespaces[@]}" limited 2; }
        local ready
        read -r ready <&"${wire[0]}" && [ "$ready" = ready ]
        ;;
    *) veth limited ;;
    esac
    veth free
    address 198.51.100 limited
    address 203.0.113 free
    case $1 in
    # Room for all that sixteen sessions ask for, so that nothing is lost.
    network-bandwidth | network-unknown) tc "${limited[@]}" rate 20mbit burst 16kb limit 1mb ;;
    # Room for a few answers of more than a kilobyte.
    network-loss) tc "${limited[@]}" rate 20mbit burst 2kb limit 5kb ;;
    esac
}

veth() { ip -n "${namespaces[0]}" link add "$1" type veth peer name "$1" netns "${namespaces[1]}"; }

# Interfaces go with their namespaces, and the one that delays with its process, when nobody speaks to it any more.
uncable() {
    if [ -n "${wire_PID:-}" ]; then
        exec {wire[1]}>&-
        wait "$wire_PID" || true
    fi
    remove_namespaces "${namespaces[@]}"
}

# The programs beside which is measured, in this order.
companies=(alone one two)
busy=()
accompany() {
    case $1 in
    one)
        (while :; do timeout 3 sh -c 'while :; do :; done' || sleep 3; done) &
        busy+=($!)
        ;;
    two)
        for _ in 1 2; do
            sh -c 'while :; do :; done' &
            busy+=($!)
        done
        ;;
    esac
}
leave() {
    [ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null || true
    busy=()
}

uncable
trap 'leave; uncable' EXIT

for company in "${companies[@]}"; do
    store=$stores/$company.db
    # What would be without the bottleneck is asked once.
    only=(--only injected)
    [ "$company" != alone ] || only=()
    accompany "$company"
    for name; do
        say "$name, $company"
        fresh=()
        case $name in
        network-*)
            cable "$name"
            # Their files ask for the same: what differs is the cable.
            fresh=(--fresh)
            ;;
        esac
        code=0
        "$plimsoll" run "$root/studies/causes/$name.yaml" "${fresh[@]}" --anyway --keep-going "${only[@]}" --store "$store" --quiet >"$store.$name.txt" || code=$?
        uncable
        # 106: no point is valid, as where the load generator is the bottleneck, or where others are busy; 105: arms were left out.
        [[ $code =~ ^(0|105|106)$ ]] || die "$name: exit code $code; its output is in $store.$name.txt"
    done
    leave
done
cd "$root"
exec cargo run --release --quiet -p plimsoll-judge --example causes "$stores" "${page[@]}"
