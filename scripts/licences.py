#!/usr/bin/env python3
"""Prints the licences of the Rust libraries that the program is linked with: each text once, with the libraries that are under it.

    scripts/licences.py [FLAGS...]   FLAGS as for cargo build: --no-default-features --features mongodb,nats

Licences ask that their texts go with every copy, so packages hold this. A library whose archive has no text is named with its licence, its
authors and where it comes from.
"""

import json
import platform
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)([-._].*)?$", re.IGNORECASE)
# Sources that happen to be called like that.
NOT = {".rs", ".py", ".sh", ".toml", ".html"}


def cargo(*words):
    done = subprocess.run(["cargo", *words, "--locked"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def linked(flags):
    """The packages of the program from elsewhere, without those that only take part in its build."""
    target = f"{platform.machine()}-unknown-linux-gnu"
    tree = cargo("tree", "--package", "plimsoll", "--edges", "normal,no-proc-macro", "--target", target, "--prefix", "none", "--format", "{p}", *flags)
    names = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    packages = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", target))["packages"]
    foreign = [package for package in packages if package["source"] and (package["name"], f"v{package['version']}") in names]
    return sorted(foreign, key=lambda package: (package["name"], package["version"]))


def texts(package):
    folder = Path(package["manifest_path"]).parent
    files = [path for path in folder.iterdir() if path.is_file() and NAMES.match(path.name) and path.suffix not in NOT]
    if package["license_file"]:
        files.append(folder / package["license_file"])
    return {path.read_text(errors="replace").strip() for path in files}


def main():
    under = defaultdict(list)
    bare = []
    packages = linked(sys.argv[1:])
    for package in packages:
        found = texts(package)
        for text in found:
            under[text].append(f"{package['name']} {package['version']}")
        if not found:
            bare.append(package)
    if not packages:
        raise SystemExit("the program has no libraries, which cannot be")
    print(f"Plimsoll is linked with {len(packages)} libraries of others:\n")
    for package in packages:
        print(f"    {package['name']} {package['version']}: {package['license'] or 'see its text'}")
    if bare:
        print("\nOf these, the archives of some hold no text of their licence. Their authors and places:\n")
        for package in bare:
            who = ", ".join(package["authors"]) or "its contributors"
            print(f"    {package['name']} {package['version']}: {who}; {package['repository'] or package['homepage'] or 'crates.io'}")
    for text, names in sorted(under.items(), key=lambda item: (-len(item[1]), item[1], item[0])):
        print(f"\n{'=' * 80}\n{', '.join(names)}\n{'=' * 80}\n\n{text}")


main()
