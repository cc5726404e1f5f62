#!/usr/bin/env bash
# A wheel for `pip install plimsoll`: the program, and the package of Python that reads its results.
#
#   scripts/pack-wheel.sh PROGRAM GLIBC INTO     such as target/dist/plimsoll/plimsoll 2_31 target/dist
#
# GLIBC is the version that the program needs, with an underscore. The tools that pack it come from PyPI, into a folder that is removed.
set -euo pipefail

[ $# -eq 3 ] || {
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$(realpath "$1") glibc=$2 into=$(realpath "$3")
version=$("$program" --version | cut -d' ' -f2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check setuptools wheel
cp -R "$root/python" "$work/python"
"$work/tools/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$work/pure" "$work/python"
"$work/tools/bin/wheel" unpack --dest "$work" "$work"/pure/*.whl >/dev/null

package=$work/plimsoll-$version
[ -d "$package" ] || {
    echo "pack-wheel: the program is $version, and python/pyproject.toml says $(basename "$work"/plimsoll-*)" >&2
    exit 1
}
about=$package/plimsoll-$version.dist-info
install -D "$program" "$package/plimsoll-$version.data/scripts/plimsoll"
sed -i -e 's/^Root-Is-Purelib: .*/Root-Is-Purelib: false/' -e "s/^Tag: .*/Tag: py3-none-manylinux_${glibc}_$(uname -m)/" "$about/WHEEL"
# The program holds WiredTiger.
sed -i -e 's/^License: .*/License: GPL-3.0-only/' -e 's/^License-Expression: .*/License-Expression: GPL-3.0-only/' \
    -e 's/^Summary: .*/Summary: A database benchmark laboratory: one experiment file in, one verdict out/' "$about/METADATA"
mkdir -p "$about/licenses"
cp "$root/NOTICE" "$root/LICENSE" "$about/licenses/"
"$work/tools/bin/wheel" pack --dest-dir "$into" "$package" >/dev/null
ls "$into/plimsoll-$version-py3-none-manylinux_${glibc}_$(uname -m).whl"
