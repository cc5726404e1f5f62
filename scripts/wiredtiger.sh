#!/usr/bin/env bash
# Builds WiredTiger 11.3.1 once, as a static library, into target/wiredtiger/11.3.1.
#
# The source is the sdist on PyPI, pinned by its sha256. Nothing but cc, ar, sed and coreutils is needed to build it: the file list is
# WiredTiger's own (dist/filelist), the configuration header is written below with what its CMake scripts find on Linux.
# A second call is instant; a build that was cut off leaves nothing that looks complete.
#
# Without a network, put wiredtiger-11.3.1.tar.gz into target/wiredtiger/ by hand.
set -euo pipefail

version=11.3.1
sha256=95052d1b6fc06921dd617aafa1ba2a773d8dbbbf2eb74f77147290a630e598d0
# -O2 and -fno-strict-aliasing are what WiredTiger's own release build uses.
flags="-std=gnu11 -O2 -DNDEBUG -D_GNU_SOURCE -fPIC -fno-semantic-interposition -fno-strict-aliasing -w"
recipe="wiredtiger $version $sha256 $flags builtin snappy zstd"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$root/target/wiredtiger
prefix=$home/$version
sdist=$home/wiredtiger-$version.tar.gz
compiler=${CC:-cc}

say() { printf 'wiredtiger: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}
built() { [ -f "$prefix/stamp" ] && [ "$(cat "$prefix/stamp")" = "$recipe" ]; }

built && exit 0
mkdir -p "$home"
exec 9>"$home/lock"
if ! flock -n 9; then
    say "waiting for another build of it"
    flock 9
fi
built && exit 0
# What a killed build left behind: nobody else is building while this holds the lock.
rm -rf "$home"/building.*

case $(uname -sm) in
"Linux x86_64") architecture=X86_HOST flags="$flags -DHAVE_X86INTRIN_H" ;;
"Linux aarch64") architecture=ARM64_HOST flags="$flags -march=armv8-a+crc -DHAVE_ARM_NEON_INTRIN_H" ;;
*) die "cannot be built on $(uname -sm): only on Linux on x86_64 or aarch64; set WIREDTIGER_DIR to a prefix that holds WiredTiger 11.3" ;;
esac

missing=()
command -v ar >/dev/null || missing+=(binutils)
if ! command -v "${compiler%% *}" >/dev/null; then
    missing+=(gcc libc6-dev g++ libsnappy-dev libzstd-dev)
else
    has_header() { echo "#include <$1>" | $compiler -E -x c - >/dev/null 2>&1; }
    # `-print-file-name` answers with a path when there is such a file and with the bare name otherwise.
    has_library() { [[ $($compiler -print-file-name="$1") == */* ]]; }
    has_header stdio.h || missing+=(libc6-dev)
    has_library libstdc++.so || missing+=(g++)
    { has_header snappy-c.h && has_library libsnappy.a; } || missing+=(libsnappy-dev)
    { has_header zstd.h && has_library libzstd.a; } || missing+=(libzstd-dev)
fi
if [ ${#missing[@]} -gt 0 ]; then
    die "packages are missing: apt-get install ${missing[*]}"
fi

checks_out() { echo "$sha256  $1" | sha256sum --check --status 2>/dev/null; }

work=$(mktemp -d "$home/building.XXXXXX")
trap 'rm -rf "$work"' EXIT

if ! { [ -f "$sdist" ] && checks_out "$sdist"; }; then
    python3 -m pip --version >/dev/null 2>&1 ||
        die "pip is missing: apt-get install python3-pip, or put wiredtiger-$version.tar.gz into $home by hand"
    say "downloading wiredtiger-$version.tar.gz"
    # With a hash in the requirement, pip checks the archive before it runs anything out of it to learn its metadata.
    echo "wiredtiger==$version --hash=sha256:$sha256" >"$work/requirement.txt"
    if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
        --dest "$work/download" --requirement "$work/requirement.txt" >"$work/pip.log" 2>&1; then
        cat "$work/pip.log" >&2
        die "the download failed; without a network, put wiredtiger-$version.tar.gz into $home by hand"
    fi
    checks_out "$work/download/wiredtiger-$version.tar.gz" || die "the downloaded archive has another sha256 than $sha256"
    mv "$work/download/wiredtiger-$version.tar.gz" "$sdist"
fi

say "compiling $version (once, about 45 s on two cores)"
tar -xzf "$sdist" -C "$work"
source=$work/wiredtiger-$version
out=$work/prefix
mkdir -p "$out/include" "$out/lib" "$work/objects"

sed -e 's/@VERSION_MAJOR@/11/' -e 's/@VERSION_MINOR@/3/' -e 's/@VERSION_PATCH@/1/' \
    -e 's/@VERSION_STRING@/"WiredTiger 11.3.1: (November 13, 2024)"/' \
    -e 's/@off_t_decl@/typedef off_t wt_off_t;/' -e '/^@uintmax_t_decl@$/d' -e '/^@uintptr_t_decl@$/d' \
    -e '/^@wiredtiger_includes_decl@$/c\
#include <sys/types.h>\
#include <inttypes.h>\
#include <stdarg.h>\
#include <stdbool.h>\
#include <stdint.h>\
#include <stdio.h>' \
    "$source/src/include/wiredtiger.in" >"$out/include/wiredtiger.h"

cat >"$out/include/wiredtiger_config.h" <<'HEADER'
#ifndef __WIREDTIGER_CONFIG_H_
#define __WIREDTIGER_CONFIG_H_
#define HAVE_BUILTIN_EXTENSION_SNAPPY 1
#define HAVE_BUILTIN_EXTENSION_ZSTD 1
#define HAVE_CLOCK_GETTIME 1
#define HAVE_DLFCN_H 1
#define HAVE_FALLOCATE 1
#define HAVE_FDATASYNC 1
#define HAVE_GETTIMEOFDAY 1
#define HAVE_INTTYPES_H 1
#define HAVE_LIBCXX 1
#define HAVE_LIBDL 1
#define HAVE_LIBPTHREAD 1
#define HAVE_LIBRT 1
#define HAVE_LIBSNAPPY 1
#define HAVE_LIBZSTD 1
#define HAVE_MEMORY_H 1
#define HAVE_POSIX_FADVISE 1
#define HAVE_POSIX_FALLOCATE 1
#define HAVE_POSIX_MADVISE 1
#define HAVE_POSIX_MEMALIGN 1
#define HAVE_PTHREAD_COND_MONOTONIC 1
#define HAVE_SETRLIMIT 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRINGS_H 1
#define HAVE_STRING_H 1
#define HAVE_STRTOUQ 1
#define HAVE_SYNC_FILE_RANGE 1
#define HAVE_SYS_STAT_H 1
#define HAVE_TIMER_CREATE 1
#define HAVE_UNISTD_H 1
#define SPINLOCK_TYPE SPINLOCK_PTHREAD_MUTEX
#define VERSION "11.3.1"
#define WT_BUFFER_ALIGNMENT_DEFAULT 4096
#define WT_STANDALONE_BUILD 1
#endif
HEADER

# Lines of the list: a path, and for some the hosts that need it.
{
    sed -nE -e 's/[[:space:]]*#.*//' -e '/^[^[:space:]]+[[:space:]]*$/s/[[:space:]]*$//p' \
        -e "s/^([^[:space:]]+)[[:space:]]+(POSIX_HOST|LINUX_HOST|$architecture)[[:space:]]*\$/\1/p" "$source/dist/filelist"
    echo ext/compressors/snappy/snappy_compress.c
    echo ext/compressors/zstd/zstd_compress.c
} >"$work/files"

# Reading its headers is half of the work. gcc finds them precompiled in this folder; other compilers pass it by.
mkdir "$work/precompiled"
$compiler $flags -I"$out/include" -I"$source/src/include" -x c-header "$source/src/include/wt_internal.h" \
    -o "$work/precompiled/wt_internal.h.gch" || die "$compiler failed, see above"

cat >"$work/compile" <<COMPILE
#!/bin/sh
object=$work/objects/\$(echo "\$1" | tr / -).o
exec $compiler $flags -I$work/precompiled -I$out/include -I$source/src/include -c "$source/\$1" -o "\$object"
COMPILE
chmod +x "$work/compile"
xargs -P "$(nproc)" -n 1 "$work/compile" <"$work/files" || die "$compiler failed, see above"
[ "$(find "$work/objects" -name '*.o' | wc -l)" -eq "$(wc -l <"$work/files")" ] || die "some files were not compiled"
ar rcs "$out/lib/libwiredtiger.a" "$work"/objects/*.o

# Static compressors, so that the finished program can be copied to a machine that has neither.
cp -L "$($compiler -print-file-name=libsnappy.a)" "$($compiler -print-file-name=libzstd.a)" "$out/lib/"
cp "$source/LICENSE" "$out/"
echo "$recipe" >"$out/stamp"

if [ -e "$prefix" ]; then
    mv "$prefix" "$work/old"
fi
mv "$out" "$prefix"
say "built $prefix"
