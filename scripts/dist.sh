#!/usr/bin/env bash
# Packages of the commit that is checked out, built in a root of Debian 11 that debootstrap makes: what is built there runs wherever glibc is
# 2.31 or later. Needs root, for chroot and mounts, which are in a namespace of their own and end with it.
#
#   scripts/dist.sh                    into target/dist: two .deb packages, two archives, a wheel for pip, the source, a formula for Homebrew, and
#                                      their hashes
#   scripts/dist.sh try [RELEASE...]   a stranger's way, timed: from the .deb to a verdict on a mongod, in a bare root of each of these releases
#                                      of Debian [bullseye bookworm trixie]; and the wheel, in an environment of its own
#   scripts/dist.sh image              the container image of deploy/Dockerfile, by buildah, on a root of Debian 12; and a run in it
#
# `plimsoll` holds WiredTiger, so it is passed on under the GPL, version 3; `plimsoll-without-wiredtiger` under the Apache License 2.0.
# Roots are made once and kept in target/dist/roots.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")
dist=$target/dist
roots=$dist/roots
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
machine=$(uname -m)
wiredtiger=$(sed -n 's/^version=//p' "$root/scripts/wiredtiger.sh")

say() { printf 'dist: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

case $machine in
x86_64) architecture=amd64 ;;
aarch64) architecture=arm64 ;;
*) die "there are no packages for $machine" ;;
esac
[ "$(id -u)" -eq 0 ] || die "it needs root, for chroot and mounts: sudo $0 $*"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"

# make_root RELEASE [PACKAGES]: a bare root, with these packages where it is what builds.
make_root() {
    local into=$roots/$1${2:+-build}
    [ -e "$into/.made" ] && return
    say "making a root of $1 (once)"
    rm -rf "$into"
    mkdir -p "$roots"
    debootstrap --variant=minbase ${2:+--include="$2"} "$1" "$into" >"$into.log" 2>&1 || {
        tail -n 5 "$into.log" >&2
        die "debootstrap failed; all that it said is in $into.log"
    }
    touch "$into/.made"
}

# inside ROOT [FROM TO]... -- COMMAND...: runs it in that root, in which the directories FROM of this machine are found as TO. Whatever it
# starts ends with it.
# shellcheck disable=SC2016
inside() {
    unshare --mount --pid --fork --kill-child --propagation private bash -euc '
        in=$1; shift
        mount -t proc proc "$in/proc"
        mount --rbind /dev "$in/dev"
        mount --rbind /sys "$in/sys"
        while [ "$1" != -- ]; do mkdir -p "$in$2"; mount --bind "$1" "$in$2"; shift 2; done
        shift
        exec chroot "$in" "$@"
    ' inside "$@"
}

# Only what a command inside is meant to see.
clean=(/usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive)

# build NAME FLAGS...: the program, as $dist/NAME/plimsoll.
build() {
    local name=$1 cargo=${CARGO_HOME:-$HOME/.cargo}
    shift
    say "building $name"
    # Its dependencies have been fetched: it needs no network.
    inside "$roots/bullseye-build" "$dist/source" /source "$dist/build" /build "$cargo" /cargo "$(rustc --print sysroot)" /rust -- \
        "${clean[@]}" PATH=/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin CARGO_HOME=/cargo CARGO_TARGET_DIR=/build CARGO_NET_OFFLINE=true \
        PLIMSOLL_COMMIT="$(git -C "$root" rev-parse --short=12 HEAD)" \
        bash -euc 'cd /source; cargo build --profile dist --locked --quiet "$@"' build "$@"
    mkdir -p "$dist/$name"
    strip --strip-debug -o "$dist/$name/plimsoll" "$dist/build/dist/plimsoll"
}

# stage NAME INTO FLAGS...: what a package holds besides its control file, of a program that was built with these flags.
stage() {
    local name=$1 into=$2
    local program=$dist/$name/plimsoll documents=$into/usr/share/doc/$name
    shift 2
    install -D "$program" "$into/usr/bin/plimsoll"
    mkdir -p "$into"/usr/share/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d,man/man1} "$documents"
    "$program" completions bash >"$into/usr/share/bash-completion/completions/plimsoll"
    "$program" completions zsh >"$into/usr/share/zsh/vendor-completions/_plimsoll"
    "$program" completions fish >"$into/usr/share/fish/vendor_completions.d/plimsoll.fish"
    "$program" man | gzip -9n >"$into/usr/share/man/man1/plimsoll.1.gz"
    cp "$root"/{README.md,CHANGELOG.md,NOTICE,LICENSE} "$documents/"
    cp -R "$root/studies" "$root/deploy" "$documents/"
    rm -f "$documents/deploy/plimsoll.rb.in"
    "$root/scripts/licences.py" "$@" | gzip -9n >"$documents/LIBRARIES.gz"
    {
        cat "$root/NOTICE"
        if [ "$name" = plimsoll ]; then
            printf '\nThis package holds WiredTiger %s. It is therefore passed on under the GNU General Public License, version 3, whose text is in\nGPL-3. Its source is published beside it, as plimsoll-%s-source.tar.gz.\n' \
                "$wiredtiger" "$version"
        fi
    } >"$documents/copyright"
    [ "$name" != plimsoll ] || cp "$roots/bullseye-build/usr/share/common-licenses/GPL-3" "$documents/"
}

# package NAME OTHER DESCRIPTION FLAGS...: the .deb and the archive.
package() {
    local name=$1 other=$2 description=$3 into=$dist/$1/root depends
    shift 3
    say "packing $name"
    rm -rf "$into" "$dist/$name/archive"
    stage "$name" "$into" "$@"
    mkdir -p "$into/DEBIAN" "$dist/$name/debian"
    printf 'Source: %s\n\nPackage: %s\nArchitecture: any\n' "$name" "$name" >"$dist/$name/debian/control"
    depends=$(inside "$roots/bullseye-build" "$dist/$name" /package -- "${clean[@]}" PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        bash -euc 'cd /package; dpkg-shlibdeps -O root/usr/bin/plimsoll' | sed -n 's/^shlibs:Depends=//p')
    [ -n "$depends" ] || die "dpkg-shlibdeps does not say what $name depends on"
    cat >"$into/DEBIAN/control" <<CONTROL
Package: $name
Version: $version
Architecture: $architecture
Maintainer: ${PLIMSOLL_MAINTAINER:-The Plimsoll authors <plimsoll@localhost>}
Section: database
Priority: optional
Depends: $depends
Recommends: btrfs-progs, e2fsprogs, fio, mount, util-linux, xfsprogs
Conflicts: $other
Replaces: $other
Installed-Size: $(du -sk --exclude=DEBIAN "$into" | cut -f1)
Description: answers questions about databases by experiment
 One file states what to compare and under which load. One command measures it
 in shuffled, repeated blocks, and returns a verdict with a confidence interval
 and a cause.
 .
 $description
CONTROL
    (cd "$into" && find usr -type f -exec md5sum {} +) >"$into/DEBIAN/md5sums"
    dpkg-deb --root-owner-group --build -Zxz "$into" "$dist/${name}_${version}_$architecture.deb" >/dev/null
    mkdir -p "$dist/$name/archive"/{bin,completions}
    cp "$into/usr/bin/plimsoll" "$dist/$name/archive/bin/"
    cp "$into"/usr/share/{bash-completion/completions/plimsoll,zsh/vendor-completions/_plimsoll,fish/vendor_completions.d/plimsoll.fish} \
        "$dist/$name/archive/completions/"
    cp -R "$into/usr/share/man/man1/plimsoll.1.gz" "$into/usr/share/doc/$name/." "$dist/$name/archive/"
    pack "$name-$version-$machine-linux" "$dist/$name/archive"
}

# pack NAME DIRECTORY: an archive NAME.tar.gz of what the directory holds, in a directory NAME.
pack() {
    tar -C "$2" --owner=0 --group=0 --sort=name --mtime="@$(git -C "$root" log -1 --format=%ct)" --transform "s,^\.,$1," -cf - . |
        gzip -9n >"$dist/$1.tar.gz"
}

packages() {
    local made=("$dist"/*.deb "$dist"/*.tar.gz "$dist"/*.whl)
    [ -z "$(git -C "$root" status --porcelain --untracked-files=no)" ] || die "a tracked file was changed: packages are those of a commit"
    make_root bullseye binutils,dpkg-dev,g++,gcc,libc6-dev,libsnappy-dev,libzstd-dev
    cargo fetch --locked --quiet --manifest-path "$root/Cargo.toml" --target "$machine-unknown-linux-gnu"
    # The source of WiredTiger comes from where the usual build has it, and is built again in there.
    compgen -G "$root/target/wiredtiger/wiredtiger-$wiredtiger.tar.gz" >/dev/null || "$root/scripts/wiredtiger.sh"
    rm -rf "${made[@]}" "$dist/source"
    mkdir -p "$dist/build" "$dist/source/target/wiredtiger"
    git -C "$root" archive HEAD | tar -x -C "$dist/source"
    cp "$root/target/wiredtiger/wiredtiger-$wiredtiger.tar.gz" "$dist/source/target/wiredtiger/"
    pack "plimsoll-$version-source" "$dist/source"
    local without=(--no-default-features --features mongodb,nats)
    build plimsoll
    build plimsoll-without-wiredtiger "${without[@]}"
    package plimsoll plimsoll-without-wiredtiger "This package holds WiredTiger, MongoDB's storage engine, as the default."
    package plimsoll-without-wiredtiger plimsoll "This package holds no embedded engine: it measures MongoDB's servers." "${without[@]}"
    sed -e "s/@VERSION@/$version/g" -e "s/@SHA256@/$(sha256sum <"$dist/plimsoll-$version-$machine-linux.tar.gz" | cut -d' ' -f1)/" \
        "$root/deploy/plimsoll.rb.in" >"$dist/plimsoll.rb"
    "$root/scripts/pack-wheel.sh" "$dist/plimsoll/plimsoll" 2_31 "$dist"
    (cd "$dist" && sha256sum ./*.deb ./*.tar.gz ./*.whl plimsoll.rb >SHA256SUMS)
    say "in $dist:"
    (cd "$dist" && du -h ./*.deb ./*.tar.gz ./*.whl plimsoll.rb SHA256SUMS)
}

# Debian 11 has no OpenSSL 3, which the usual mongod needs.
mongod_for() {
    case $1 in
    bullseye) echo "$root/target/servers/4.4.2/bin/mongod-4.4.2" ;;
    *) echo "$root/target/servers/bin/mongod" ;;
    esac
}

# The root is bare, so the time is that of a new machine: the lists of packages, the package and what it needs, the experiment.
try() {
    local release=$1 deb=plimsoll_${version}_$architecture.deb other=plimsoll-without-wiredtiger_${version}_$architecture.deb mongod in
    [ -e "$dist/$deb" ] && [ -e "$dist/$other" ] || die "there are no packages yet: ./x dist"
    mongod=$(mongod_for "$release")
    [ -x "$mongod" ] || die "there is no $mongod to try it on: ./x setup --versions"
    make_root "$release"
    in=$roots/trial
    rm -rf "$in"
    cp -a "$roots/$release" "$in"
    cp "$dist/$deb" "$dist/$other" "$dist"/plimsoll-"$version"-*.whl "$in/root/"
    cp "$mongod" "$in/usr/local/bin/mongod"
    # The names and the proxies of this machine.
    cp -L /etc/resolv.conf /etc/hosts "$in/etc/"
    cp -RL /etc/apt/apt.conf.d/. "$in/etc/apt/apt.conf.d/"
    # shellcheck disable=SC2016
    inside "$in" -- "${clean[@]}" PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -euc '
        cd /root
        exec 2>&1
        apt-get update -qq
        # A mongod brings no packages of its own: libcurl4 is what it needs besides.
        apt-get install -qq --yes --no-install-recommends "./$1" libcurl4 >/dev/null 2>&1
        installed=$SECONDS
        plimsoll --version
        plimsoll init verdict.yaml --database mongod --question settings --data 32MiB --within 2m
        plimsoll run verdict.yaml --quiet >verdict.txt || { cat verdict.txt; exit 1; }
        decided=$SECONDS
        head -n 6 verdict.txt
        plimsoll clean
        test -s /usr/share/man/man1/plimsoll.1.gz
        zcat /usr/share/doc/plimsoll/LIBRARIES.gz | grep -q "^    serde "
        echo "installed after $installed s, a verdict after $decided s"
        apt-get install -qq --yes --no-install-recommends "./$2" >/dev/null 2>&1
        echo "replaced by $(dpkg-query --showformat "\${Package}" --show "plimsoll-*")"
        plimsoll plan verdict.yaml >/dev/null
        apt-get remove -qq --yes "plimsoll*" >/dev/null 2>&1
        apt-get install -qq --yes --no-install-recommends python3-venv >/dev/null 2>&1
        python3 -m venv environment
        environment/bin/pip install --quiet --no-index ./plimsoll-*.whl
        ! command -v plimsoll || { echo "another plimsoll is on PATH"; exit 1; }
        environment/bin/plimsoll plan verdict.yaml >/dev/null
        environment/bin/python -c "import plimsoll; print(\"by pip:\", plimsoll.__version__)"
        [ "$decided" -le 300 ] || { echo "that is more than 5 minutes"; exit 1; }
    ' try "$deb" "$other" | sed "s/^/$release: /"
    rm -rf "$in"
}

image() {
    local base built work=$dist/image
    command -v buildah >/dev/null || die "buildah is missing: apt-get install buildah"
    [ -e "$dist/plimsoll/plimsoll" ] || die "there is no program for it yet: ./x dist"
    make_root bookworm
    rm -rf "$work"
    mkdir -p "$work"
    cp "$root"/deploy/{Dockerfile,entrypoint.sh} "$dist/plimsoll/plimsoll" "$work/"
    # Storage of its own, that needs no support by the kernel.
    in_store() { buildah --storage-driver vfs --root "$dist/containers" --runroot "$dist/containers-run" "$@"; }
    base=$(in_store from scratch)
    in_store add --quiet "$base" "$roots/bookworm" / >/dev/null
    # What the Dockerfile begins with; a registry is not asked.
    in_store commit --quiet --rm "$base" docker.io/library/debian:12-slim >/dev/null
    in_store build --isolation chroot --pull-never --quiet --tag "plimsoll:$version" "$work" >/dev/null
    built=$(in_store from --pull-never "plimsoll:$version")
    say "in the image:"
    in_store run --isolation chroot "$built" -- entrypoint.sh plimsoll --version
    in_store run --isolation chroot "$built" -- sh -c 'plimsoll init --database embedded --question settings --data 8MiB --within 1m --workload c && plimsoll run experiment.yaml --quiet | head -n 4'
    in_store rm "$built" >/dev/null
    in_store push --quiet "plimsoll:$version" "oci-archive:$dist/plimsoll-$version-image.tar:plimsoll:$version"
    in_store rmi --all --force >/dev/null
    rm -rf "$dist/containers" "$dist/containers-run" "$work"
    (cd "$dist" && du -h "plimsoll-$version-image.tar")
}

case ${1:-} in
'') packages ;;
try)
    shift
    [ $# -gt 0 ] || set -- bullseye bookworm trixie
    for release; do try "$release"; done
    ;;
image) image ;;
*) die "nothing, try [RELEASE...] or image?" ;;
esac
