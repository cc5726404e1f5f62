#!/usr/bin/env bash
# What is found beside another program, and how soon: measures the files of studies/power in turn and in duets, beside a busy loop.
#
#   scripts/power.sh [ENGINE...]        wiredtiger, mongodb [both]
#   scripts/power.sh whole [ENGINE...]  whole experiments of 15 minutes instead, as somebody would make them who wants to find 2 %
#
# The loop comes and goes: it works for 2 to 12 s and rests for 2 to 12 s, and the kernel puts it on any processor. Duets and turns are
# measured in slices of some minutes by turns, so that both meet the same hours of the machine. Whatever is interrupted goes on when this
# is called again. It takes some 3 hours for both engines.
#
#   PLIMSOLL=FILE        the program [target/release/plimsoll]
#   POWER_STORE=FILE     where results are kept [target/power/power.db]
#   POWER_SLICE=SECONDS  of each slice [300]
#   POWER_LONGEST=SECONDS  when to stop, to be called again later [never]
#   POWER_WAYS="duet turn" how the arms of whole experiments are paired [both]
#   POWER_EXPERIMENTS=N  whole experiments of each way [5]
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
plimsoll=${PLIMSOLL:-$target/release/plimsoll}
store=${POWER_STORE:-$target/power/power.db}
slice=${POWER_SLICE:-300}
longest=${POWER_LONGEST:-1000000}
ways=${POWER_WAYS:-duet turn}
experiments=${POWER_EXPERIMENTS:-5}
kind=campaign
if [ "${1:-}" = whole ]; then
    kind=whole
    shift
fi
[ $# -gt 0 ] || set -- wiredtiger mongodb

say() { printf 'power: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

[ -x "$plimsoll" ] || die "there is no $plimsoll: ./x build"
for engine; do
    [ -f "$root/studies/power/$engine.yaml" ] || die "there is no studies/power/$engine.yaml"
done
mkdir -p "$(dirname "$store")"
export PATH=$PATH:$root/target/servers/bin

# Works and rests for 2 to 12 s each, until its parent is gone.
busy() {
    RANDOM=7
    while kill -0 $$ 2>/dev/null; do
        local until=$((${EPOCHREALTIME/./} + 2000000 + RANDOM % 100 * 100000))
        while [ "${EPOCHREALTIME/./}" -lt "$until" ]; do :; done
        sleep "$((2 + RANDOM % 10)).$((RANDOM % 10))"
    done
}
busy &
loop=$!
trap 'kill $loop 2>/dev/null || true' EXIT

# Measures a file until it is done or the time is over; 124: it is not done.
measure() {
    local seconds=$1 file=$2 way=$3 to=$4 code=0
    local flags=()
    [ "$way" = turn ] || flags=(--duet)
    timeout --signal=INT --kill-after=60 "$seconds" \
        "$plimsoll" run "$file" "${flags[@]}" --store "$store" --quiet >"$to" || code=$?
    case $code in
    0 | 1 | 99) return 0 ;;
    124) return 124 ;;
    *) die "$file, $way: exit code $code; its output is in $to" ;;
    esac
}

stop_in_time() {
    if [ "$SECONDS" -ge "$longest" ]; then
        say "stopped; call it again to go on"
        exit 0
    fi
}

# Slices of both ways by turns.
campaign() {
    local engine=$1 left=(duet turn) again way
    while [ ${#left[@]} -gt 0 ]; do
        again=()
        for way in "${left[@]}"; do
            stop_in_time
            if measure "$slice" "$root/studies/power/$engine.yaml" "$way" "$store.$engine-$way.txt"; then
                say "$engine, $way: done"
            else
                again+=("$way")
            fi
        done
        left=("${again[@]}")
    done
}

# Whole experiments, each of as many blocks as fit into 15 minutes: a duet takes 5 s on a mongod, a pair in turn 7.4 s.
whole() {
    local engine=$1 number way blocks of done
    for number in $(seq "$experiments"); do
        for way in $ways; do
            blocks=180
            [ "$way" = duet ] || blocks=120
            of=$store.$engine-$way-$number
            done=$of.txt
            [ ! -e "$done" ] || continue
            stop_in_time
            sed -e 's/^controls:.*/controls: [2%]/' -e "s/^name: .*/&-whole-$number/" \
                -e "s/blocks: 200, seed: 7/blocks: $blocks, seed: $number/" \
                "$root/studies/power/$engine.yaml" >"$of.yaml"
            if measure 3600 "$of.yaml" "$way" "$of.part"; then
                mv "$of.part" "$done"
                say "$engine, $way: experiment $number is done: $done"
            fi
        done
    done
}

for engine; do
    "$kind" "$engine"
done
