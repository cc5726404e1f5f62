#!/usr/bin/env bash
# Plimsoll beside other load generators: the same workloads by each of them, in turns, on one mongod.
#
#   scripts/peers.sh DIR      what is in DIR or in a folder of it: bin/ycsb.sh (YCSB), go-ycsb or bin/go-ycsb
#
# Each program stores its own records in a collection of its own, by the same command line and the same properties. Then they take turns:
# round after round, each round beginning with another program. What is said is what each program says of its rate, and the CPU time of
# its process. CPU time to begin and end is measured by runs of next to no operations, and subtracted.
#
#   PLIMSOLL=FILE             the program [target/release/plimsoll]
#   MONGOD=FILE               the server [mongod on PATH, or in target/servers/bin]
#   PEERS_RECORDS=N           records [100000]
#   PEERS_OPERATIONS=N        operations of a run [60000]
#   PEERS_ROUNDS=N            rounds [5]
#   PEERS_WORKLOADS="c a"     YCSB's letters, a, b, c or f
#   PEERS_THREADS="1 4 16"    numbers of threads
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
plimsoll=${PLIMSOLL:-${CARGO_TARGET_DIR:-$root/target}/release/plimsoll}
records=${PEERS_RECORDS:-100000}
operations=${PEERS_OPERATIONS:-60000}
rounds=${PEERS_ROUNDS:-5}
read -ra workloads <<<"${PEERS_WORKLOADS:-c a}"
read -ra threads <<<"${PEERS_THREADS:-1 4 16}"

say() { printf 'peers: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

[ $# -eq 1 ] && [ -d "$1" ] || die "name one folder with YCSB or go-ycsb in it"
declare -A programs=([plimsoll]="$plimsoll foreign ycsb")
names=(plimsoll)
for file in "$1"/{,*/}bin/ycsb.sh "$1"/{,*/}{,bin/}go-ycsb; do
    [ -f "$file" ] && [ -x "$file" ] || continue
    file=$(realpath "$file")
    case $file in
    */go-ycsb) name=go-ycsb ;;
    *) name=YCSB ;;
    esac
    [ -z "${programs[$name]:-}" ] || continue
    programs[$name]=$file
    names+=("$name")
done
[ ${#names[@]} -gt 1 ] || die "there is neither bin/ycsb.sh nor go-ycsb in $1 or in a folder of it"
[ -x "$plimsoll" ] || die "there is no $plimsoll: ./x build"
mongod=${MONGOD:-$(command -v mongod || echo "$root/target/servers/bin/mongod")}
[ -x "$mongod" ] || die "there is no mongod on PATH or in target/servers/bin: ./x setup, or name one in MONGOD"

work=$(mktemp -d)
server=
clean_up() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# A port that nobody listens at.
port=27117
while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
mkdir "$work/data"
"$mongod" --dbpath "$work/data" --bind_ip 127.0.0.1 --port "$port" --wiredTigerCacheSizeGB 1 >"$work/mongod.log" 2>&1 &
server=$!
for _ in {1..300}; do
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    kill -0 "$server" 2>/dev/null || die "mongod ended: $(tail -n 1 "$work/mongod.log")"
    sleep 0.1
done

# What YCSB's own files of these letters say.
proportions() {
    local read=0 update=0 both=0
    case $1 in
    a) read=0.5 update=0.5 ;;
    b) read=0.95 update=0.05 ;;
    c) read=1 ;;
    f) read=0.5 both=0.5 ;;
    *) die "PEERS_WORKLOADS: there is no $1, only a, b, c and f" ;;
    esac
    printf -- '-p readproportion=%s -p updateproportion=%s -p readmodifywriteproportion=%s' "$read" "$update" "$both"
}

# The classes and options of YCSB; go-ycsb calls its workload "core".
run_program() { # NAME PHASE THREADS OPERATIONS [OPTION...]
    local name=$1 phase=$2 count=$3 number=$4 class=site.ycsb.workloads.CoreWorkload threads=(-threads "$3")
    [ "$name" != go-ycsb ] || class=core
    [ "$name" != go-ycsb ] || threads=(-p "threadcount=$count")
    # shellcheck disable=SC2086 # A program and its first word.
    ${programs[$name]} "$phase" mongodb "${threads[@]}" -p "workload=$class" -p "table=${name//-/_}" \
        -p "mongodb.url=mongodb://127.0.0.1:$port/peers?w=1" -p "recordcount=$records" -p "operationcount=$number" \
        -p requestdistribution=zipfian -p insertorder=hashed -p scanproportion=0 -p insertproportion=0 "${@:5}"
}

# Seconds of CPU time of a run; what it says is in $work/said.
cpu_of() {
    local TIMEFORMAT='%U %S' user system
    { time run_program "$@" >"$work/said" 2>"$work/errors" || die "$1 failed: $(tail -n 3 "$work/errors" "$work/said")"; } 2>"$work/time"
    read -r user system < <(tail -n 1 "$work/time")
    awk "BEGIN { print $user + $system }"
}

# Operations per second as the program says them.
rate_of() {
    case $1 in
    go-ycsb) sed -n '/^Run finished/,$ s/^TOTAL .*OPS: \([0-9.]*\).*/\1/p' "$work/said" ;;
    *) sed -n 's/^\[OVERALL\], Throughput(ops\/sec), \([0-9.]*\).*/\1/p' "$work/said" ;;
    esac
}

# Operations that the program says have failed, or found no record.
failures_of() {
    case $1 in
    go-ycsb) sed -n '/^Run finished/,$ s/^[A-Z_]*_ERROR .*Count: \([0-9]*\).*/\1/p' "$work/said" ;;
    *) sed -n '/Return=OK/ d; s/^\[[A-Z-]*\], Return=[A-Z_]*, \([0-9]*\).*/\1/p' "$work/said" ;;
    esac | awk '{ sum += $1 } END { print sum + 0 }'
}

middle() { sort -n | awk '{ all[NR] = $1 } END { if (NR) print (NR % 2) ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'; }

for name in "${names[@]}"; do
    say "$name stores $records records: ${programs[$name]}"
    cpu_of "$name" load 4 0 -p dotransactions=false >/dev/null
    # 8 operations are next to none.
    for _ in 1 2 3; do cpu_of "$name" run 1 8 -p readproportion=1 -p updateproportion=0; done | middle >"$work/start.$name"
done
turn=0
for workload in "${workloads[@]}"; do
    read -ra mix <<<"$(proportions "$workload")"
    for count in "${threads[@]}"; do
        for ((round = 1; round <= rounds; round++)); do
            say "workload $workload, $count threads, round $round of $rounds"
            for ((place = 0; place < ${#names[@]}; place++)); do
                name=${names[$(((turn + place) % ${#names[@]}))]}
                cpu=$(cpu_of "$name" run "$count" "$operations" "${mix[@]}")
                rate=$(rate_of "$name")
                failures=$(failures_of "$name")
                # What fails costs less than what does not.
                ((failures * 1000 <= operations)) || die "$name: $failures of $operations operations failed: $(tail -n 3 "$work/said")"
                echo "$failures" >>"$work/failures.$name"
                [ -n "$rate" ] || die "$name says no rate: $(tail -n 3 "$work/said")"
                awk "BEGIN { print $rate, ($cpu - $(cat "$work/start.$name")) / $operations * 1e6 }" >>"$work/$workload.$count.$name"
            done
            turn=$((turn + 1))
        done
    done
done

printf '\n%s, %s records, %s operations a run, medians of %s rounds in turns\n\n' \
    "$("$mongod" --version | head -n 1)" "$records" "$operations" "$rounds"
printf '| workload | threads | program | op/s | of plimsoll, %% | client CPU, µs/op |\n|---|---|---|---|---|---|\n'
for workload in "${workloads[@]}"; do
    for count in "${threads[@]}"; do
        for name in "${names[@]}"; do
            # Of rounds, not of medians: what the machine did to one it did to the other.
            ratio=$(paste -d ' ' "$work/$workload.$count.$name" "$work/$workload.$count.plimsoll" | awk '{ print $1 / $3 * 100 }' | middle)
            printf '| %s | %s | %s | %.0f | %.0f | %.1f |\n' "$workload" "$count" "$name" \
                "$(cut -d ' ' -f 1 "$work/$workload.$count.$name" | middle)" "$ratio" "$(cut -d ' ' -f 2 "$work/$workload.$count.$name" | middle)"
        done
    done
done
printf '\nCPU time to begin and end, ms:'
for name in "${names[@]}"; do printf ' %s %.0f' "$name" "$(awk '{ print $1 * 1000 }' "$work/start.$name")"; done
printf '\n'
for name in "${names[@]}"; do
    failures=$(awk '{ sum += $1 } END { print sum + 0 }' "$work/failures.$name")
    [ "$failures" -eq 0 ] || printf '%s: %s operations failed.\n' "$name" "$failures"
done
