#!/usr/bin/env bash
# What is found beside another program, and how soon: measures the files of studies/power in turn and in duets, beside a busy loop.
#
#   scripts/power.sh [ENGINE...]   wiredtiger, mongodb [both]
#
# The loop comes and goes: it works for 2 to 12 s and rests for 2 to 12 s, and the kernel puts it on any processor. Duets and turns are
# measured in slices of some minutes by turns, so that both meet the same hours of the machine. Whatever is interrupted goes on when this
# is called again. It takes some 3 hours for both engines.
#
#   PLIMSOLL=FILE        the program [target/release/plimsoll]
#   POWER_STORE=FILE     where results are kept [target/power/power.db]
#   POWER_SLICE=SECONDS  of each slice [300]
#   POWER_LONGEST=SECONDS  when to stop, to be called again later [never]
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
plimsoll=${PLIMSOLL:-$target/release/plimsoll}
store=${POWER_STORE:-$target/power/power.db}
slice=${POWER_SLICE:-300}
longest=${POWER_LONGEST:-1000000}
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

for engine; do
    file=$root/studies/power/$engine.yaml
    left=(duet turn)
    while [ ${#left[@]} -gt 0 ]; do
        again=()
        for way in "${left[@]}"; do
            if [ "$SECONDS" -ge "$longest" ]; then
                say "stopped; call it again to go on"
                exit 0
            fi
            flags=()
            [ "$way" = turn ] || flags=(--duet)
            code=0
            timeout --signal=INT --kill-after=60 "$slice" \
                "$plimsoll" run "$file" "${flags[@]}" --store "$store" --quiet >"$store.$engine-$way.txt" || code=$?
            # 124: the slice is over.
            case $code in
            124) again+=("$way") ;;
            0 | 1 | 99) say "$engine, $way: done" ;;
            *) die "$engine, $way: exit code $code; its output is in $store.$engine-$way.txt" ;;
            esac
        done
        left=("${again[@]}")
    done
done
