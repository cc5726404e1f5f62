#!/usr/bin/env python3
"""Line coverage of each crate, from `llvm-cov export -summary-only` on the standard input: coverage.py ROOT."""

import collections
import json
import pathlib
import sys


def main() -> None:
    root = pathlib.Path(sys.argv[1])
    crates = collections.defaultdict(lambda: [0, 0])
    for file in json.load(sys.stdin)["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        if not path.is_relative_to(root / "crates"):
            continue
        lines = file["summary"]["lines"]
        for name in (path.relative_to(root / "crates").parts[0], "all"):
            crates[name][0] += lines["covered"]
            crates[name][1] += lines["count"]
    for name, (covered, count) in sorted(crates.items(), key=lambda one: (one[0] == "all", one[0])):
        print(f"{name:16} {covered:7} of {count:7} lines  {100 * covered / max(count, 1):5.1f} %")


if __name__ == "__main__":
    main()
