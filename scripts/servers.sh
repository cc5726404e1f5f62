#!/usr/bin/env bash
# Puts database servers for the tests into target/servers/bin: `ferretdb`, and `mongod` where there is one.
#
# Neither is needed to build or to use Plimsoll, and neither is ever shipped: tests that need a server that is not here are skipped by
# name. So whatever is missing is said, and nothing fails.
#
# FerretDB 1.24 is another implementation of MongoDB's protocol, over SQLite. It is built from its Go module, pinned by the module's
# hash, with a Go toolchain of at least 1.22. A mongod is the user's own on PATH; docs/decisions/0012 says why none is fetched.
set -euo pipefail

module=github.com/FerretDB/FerretDB
version=v1.24.0
sum=h1:7WJmezL48Bj9bYWnhT/bEJgX5gjT5s7LFdHTqkN25rA=

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$root/target/servers
bin=$home/bin

say() { printf 'servers: %s\n' "$*" >&2; }

# The text of a field of the answers of `go mod download -json`.
field() { sed -n "s/^[[:space:]]*\"$1\": \"\(.*\)\",\{0,1\}$/\1/p"; }

ferretdb_is_there() { [ -f "$bin/ferretdb.stamp" ] && [ "$(cat "$bin/ferretdb.stamp")" = "$version $sum" ]; }

# Says why not, where it cannot be had.
ferretdb() {
    local found answer source work
    if ! command -v go >/dev/null; then
        echo "there is no Go toolchain (1.22 or later builds it)"
        return 1
    fi
    found=$(go env GOVERSION 2>/dev/null | sed -n 's/^go\([0-9]*\.[0-9]*\).*/\1/p')
    if ! printf '%s\n' 1.22 "${found:-0}" | sort --version-sort --check=quiet; then
        echo "Go ${found:-of no version} is too old: 1.22 or later builds it"
        return 1
    fi
    # Exactly this version is asked for, not what versions there are: some module proxies do not tell.
    if ! answer=$(cd "$home" && GOFLAGS=-mod=mod go mod download -json "$module@$version" 2>&1); then
        echo "its source cannot be had: $(field Error <<<"$answer" | head -n 1)"
        return 1
    fi
    if [ "$(field Sum <<<"$answer")" != "$sum" ]; then
        echo "its source has another hash than $sum"
        return 1
    fi
    source=$(field Dir <<<"$answer")
    work=$(mktemp -d "$home/building.XXXXXX")
    cp -R "$source/." "$work/"
    chmod -R u+w "$work"
    # It refuses to start without this file, which its module leaves out.
    echo "$version" >"$work/build/version/version.txt"
    say "building ferretdb $version (once, about two minutes on two cores)"
    if ! (cd "$work" && GOFLAGS=-mod=readonly GOWORK=off go build -buildvcs=false -trimpath -o built/program ./cmd/ferretdb) \
        >"$home/ferretdb.log" 2>&1; then
        rm -rf "$work"
        echo "it does not build, see $home/ferretdb.log"
        return 1
    fi
    mv "$work/built/program" "$bin/ferretdb" || return 1
    rm -rf "$work"
    echo "$version $sum" >"$bin/ferretdb.stamp"
}

mkdir -p "$bin"
exec 9>"$home/lock"
if ! flock -n 9; then
    say "waiting for another build of them"
    flock 9
fi
# What a killed build left behind: nobody else is building while this holds the lock.
rm -rf "$home"/building.*

if ! ferretdb_is_there; then
    why=$(ferretdb) || say "tests with FerretDB will be skipped: ${why##*$'\n'}"
fi
if ! [ -x "$bin/mongod" ] && ! command -v mongod >/dev/null; then
    say "tests with a mongod will be skipped: there is none on PATH; put one there, or into $bin"
fi
