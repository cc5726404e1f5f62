#!/usr/bin/env python3
"""Builds the documentation site, and looks whether the outputs that it shows are still those of the program.

    scripts/docs.py build PROGRAM MDBOOK SITE   the site into the directory SITE: docs/, the files it links to, and pages of stored results
    scripts/docs.py check PROGRAM [PAGE...]     runs every command of the pages and compares its output
    scripts/docs.py write PROGRAM [PAGE...]     runs them, measurements too, and writes the outputs and the results into the pages
    scripts/docs.py reprint PROGRAM [PAGE...]   writes what the stored results are told as now into the pages

A page shows commands in blocks of `console`: `$ COMMAND`, then what it prints. The commands of a page run in one directory, one after the
other, where there is nothing but studies/. A block whose first line says ```yaml file=NAME is a file there.

What measures takes minutes and never prints the same twice. So only `write` measures; it keeps the result as docs/results/PAGE-N.plimsoll.
`check` prints that result again and compares it exactly, or so much of it as a `| head -n LINES` lets through. In the output of other commands
numbers may differ: they tell of the machine. Blocks of `sh` are not run.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
RESULTS = DOCS / "results"
# Written as a whole.
OPTIONS = DOCS / "command-line.md"
# Besides docs/: pages of the site, and files that pages link to.
BESIDE = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "NOTICE", "LICENSE", "deploy", "python", "studies"]
# Commands that measure end with a result in the store.
MEASURES = re.compile(r"^plimsoll (run|gate)\b(?!.*--help)")
# Exit codes of a command that worked: 99 is the answer of a threshold or a gate.
FINE = (0, 99)
SECONDS = 60
SECONDS_TO_MEASURE = 3600
# Programs that tell stored results at a time.
AT_ONCE = min(2, os.cpu_count() or 1)


class Page:
    """A page of Markdown: its lines, its files and its blocks of commands."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        self.lines = path.read_text().splitlines()
        self.files = {}
        self.blocks = []
        at = 0
        while at < len(self.lines):
            fence = re.match(r"^```(\S+)(?: file=(\S+))?$", self.lines[at])
            if not fence:
                at += 1
                continue
            end = at + 1
            while self.lines[end] != "```":
                end += 1
            if fence[1] == "console":
                self.blocks.append((at + 1, end))
            elif fence[2]:
                self.files[fence[2]] = "\n".join(self.lines[at + 1 : end]) + "\n"
            at = end + 1

    def commands(self):
        """Each command with the lines of its output: (command, first line, line after the last)."""
        found = []
        for begin, end in self.blocks:
            starts = [at for at in range(begin, end) if self.lines[at].startswith("$ ")]
            if begin < end and (not starts or starts[0] != begin):
                raise SystemExit(f"{self.path}:{begin + 1}: a block of console begins with a command: $ COMMAND")
            for at, until in zip(starts, starts[1:] + [end]):
                found.append((self.lines[at][2:], at + 1, until))
        return found

    def show(self, outputs):
        """Writes outputs into the page, each with its first line and the line after its last."""
        for begin, end, printed in reversed(outputs):
            self.lines[begin:end] = printed
        self.path.write_text("\n".join(self.lines) + "\n")


class Machine:
    """A directory as home, in which the commands of one page run. There is nothing in it but the studies."""

    def __init__(self, program, home):
        self.home = home
        keep = {name: os.environ[name] for name in ("LANG", "TERM", "USER") if name in os.environ}
        servers = ROOT / "target/servers/bin"
        self.environment = keep | {
            "PATH": f"{program.resolve().parent}:{os.environ['PATH']}:{servers}",
            "HOME": str(home),
            "PLIMSOLL_STORE": str(home / "results.db"),
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }

    def run(self, command, messages=True):
        """Output of a command, and its messages, in lines, without what tells of this directory."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if messages else subprocess.PIPE,
            text=True,
            timeout=SECONDS_TO_MEASURE if MEASURES.match(command) else SECONDS,
        )
        if done.returncode not in FINE:
            raise SystemExit(f"$ {command}\nexit code {done.returncode}\n{done.stdout}{done.stderr or ''}")
        text = done.stdout.replace(str(self.home), "~")
        return [line.rstrip() for line in text.rstrip("\n").splitlines()]

    def report(self, result, command):
        """What a command that measured printed, as its result still tells it."""
        _, pipe, rest = command.partition("|")
        printed = self.run(f"plimsoll report '{result}' {pipe}{rest}", messages=False)
        # What was measured here is in the store: its page has no mark of having come in a file, and it is found by its id.
        identity = printed[0].split()[-1] if printed else ""
        printed = [line.replace(f"plimsoll report {result} ", f"plimsoll report {identity} ") for line in printed]
        return [line.replace("-from-file.html", ".html") for line in printed]


def results(page):
    """The files of the results of a page, in the order of its measurements."""
    measured = sum(1 for command, _, _ in page.commands() if MEASURES.match(command))
    return [RESULTS / f"{page.name}-{number}.plimsoll" for number in range(1, measured + 1)]


def options(program):
    """The page of all options: the help of the program, of each command and of each command below that."""
    lines = [
        "# Options of every command",
        "",
        "What `--help` prints, for each command. [Commands, exit codes and files](commands.md) says in a line what each is for.",
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")} | {"COLUMNS": "100", "NO_COLOR": "1"}

    def add(words):
        done = subprocess.run([program, *words, "--help"], env=environment, capture_output=True, text=True, timeout=SECONDS, check=True)
        text = done.stdout.rstrip("\n").splitlines()
        lines.extend(["", "#" * min(2 + len(words[1:]), 4) + " " + " ".join(["plimsoll", *words]), "", "```text", *(line.rstrip() for line in text), "```"])
        whole = "\n".join(text)
        # The first help lists commands in groups, and the others in a line.
        groups, _, rest = whole.partition("\nOptions:\n")[0].partition("\nAlso: ")
        below = groups if not words else whole.partition("\nCommands:\n")[2].partition("\n\n")[0]
        names = re.findall(r"^  (\S+)", below, re.MULTILINE)
        names += [name for name in ("gallery", "schema", "completions", "man") if name in rest]
        for name in names:
            if name != "help":
                add([*words, name])

    add([])
    return "\n".join(lines) + "\n"


def pages(names):
    found = [Page(path) for path in sorted(DOCS.rglob("*.md"))]
    found = [page for page in found if page.blocks]
    unknown = set(names) - {page.name for page in found} - {OPTIONS.stem}
    if unknown:
        raise SystemExit(f"no page with commands is called {', '.join(sorted(unknown))}; there are {', '.join(page.name for page in found)}")
    return [page for page in found if not names or page.name in names]


def without_numbers(lines):
    """Lines whose numbers, widths and rules may differ."""
    text = "\n".join(lines)
    text = re.sub(r"\d[\d,.]*(e[+-]?\d+)?", "#", text)
    text = re.sub(r"#\s?(ns|us|µs|ms|s|min|m|h|d|B|[kKMGT]i?B|%)(?![a-z])", "#", text)
    text = re.sub(r"#( ?#)*", "#", text)
    return [re.sub(r"[ ─-]+", " ", line).strip() for line in text.splitlines()]


def check_page(program, page):
    """What is wrong with the outputs of a page, each in lines."""
    wrong = []
    with tempfile.TemporaryDirectory(prefix="plimsoll-docs-") as home:
        machine = prepared(page, program, Path(home))
        stored = iter(results(page))
        for command, begin, end in page.commands():
            shown = page.lines[begin:end]
            if MEASURES.match(command):
                printed = machine.report(next(stored), command)
                same = printed == shown
            else:
                printed = machine.run(command)
                same = without_numbers(printed) == without_numbers(shown)
            if not same:
                differences = difflib.unified_diff(shown, printed, "shown", "printed", lineterm="")
                wrong.append("\n".join([f"{page.path.relative_to(ROOT)}:{begin}: $ {command}", *differences]))
    return wrong


def check(program, names):
    wrong = 0
    chosen = pages(names)
    # Each page has a directory of its own.
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for page, found in zip(chosen, pool.map(lambda page: check_page(program, page), chosen)):
            wrong += len(found)
            for lines in found:
                print(lines)
            print(f"{page.path.relative_to(ROOT)}: {len(page.commands())} commands", file=sys.stderr)
    if (OPTIONS.stem in names or not names) and OPTIONS.read_text() != options(program):
        wrong += 1
        print(f"{OPTIONS.relative_to(ROOT)} is not what the program's --help prints")
    if wrong:
        raise SystemExit(f"{wrong} outputs are not those of the program: ./x docs --reprint where a result is told in other words, otherwise ./x docs --write PAGE; and read what changed")


def prepared(page, program, home):
    for name, text in page.files.items():
        (home / name).write_text(text)
    (home / "studies").symlink_to(ROOT / "studies")
    return Machine(program, home)


def write(program, names):
    if OPTIONS.stem in names or not names:
        OPTIONS.write_text(options(program))
    RESULTS.mkdir(exist_ok=True)
    for page in pages(names):
        with tempfile.TemporaryDirectory(prefix="plimsoll-docs-") as home:
            machine = prepared(page, program, Path(home))
            for old in RESULTS.glob(f"{page.name}-[0-9]*.plimsoll"):
                old.unlink()
            outputs = []
            stored = iter(results(page))
            for command, begin, end in page.commands():
                print(f"{page.name}: $ {command}", file=sys.stderr)
                if MEASURES.match(command):
                    machine.run(command.partition("|")[0])
                    result = next(stored)
                    machine.run(f"plimsoll bundle last --small --to '{result}'")
                    printed = machine.report(result, command)
                else:
                    printed = machine.run(command)
                outputs.append((begin, end, printed))
            page.show(outputs)


def reprint(program, names):
    for page in pages(names):
        with tempfile.TemporaryDirectory(prefix="plimsoll-docs-") as home:
            machine = Machine(program, Path(home))
            measured = [one for one in page.commands() if MEASURES.match(one[0])]
            page.show([(begin, end, machine.report(result, command)) for (command, begin, end), result in zip(measured, results(page))])


def summary():
    """The list of chapters, with every decision below the page of all of them."""
    lines = []
    for line in (DOCS / "site/SUMMARY.md").read_text().splitlines():
        lines.append(line)
        if line.endswith("(docs/decisions/README.md)"):
            for path in sorted(DOCS.glob("decisions/[0-9]*.md")):
                title = path.read_text().partition("\n")[0].removeprefix("# ")
                lines.append(f"  - [{title}](docs/decisions/{path.name})")
    return "\n".join(lines) + "\n"


def build(program, mdbook, site):
    with tempfile.TemporaryDirectory(prefix="plimsoll-docs-") as work:
        book = Path(work)
        source = book / "src"
        shutil.copytree(DOCS, source / "docs", ignore=shutil.ignore_patterns("site", "*.plimsoll"))
        for name in BESIDE:
            here = ROOT / name
            if here.is_dir():
                shutil.copytree(here, source / name, ignore=shutil.ignore_patterns("__pycache__", "tests"))
            else:
                shutil.copy(here, source / name)
        (source / "SUMMARY.md").write_text(summary())
        # mdBook calls the page of a README "index", but leaves links to it as they are.
        for page in source.rglob("README.md"):
            page.rename(page.with_name("index.md"))
        for page in source.rglob("*.md"):
            text = re.sub(r"(\]\([^)\s]*)\bREADME\.md", r"\1index.md", page.read_text())
            # A browser shows the page of a result, not its file.
            page.write_text(re.sub(r"(\]\([^)\s]+)\.plimsoll\)", r"\1.html)", text))
        machine = Machine(program, book)

        def draw(result):
            machine.run(f"plimsoll report '{result}' --json --page '{source}/docs/results/{result.stem}.html'")

        # The largest first, so that none of them is left for the end.
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(draw, sorted(RESULTS.glob("*.plimsoll"), key=lambda result: -result.stat().st_size)))
        for name in ("book.toml", "site.css", "site.js"):
            shutil.copy(DOCS / "site" / name, book / name)
        built = book / "built"
        subprocess.run([mdbook, "build", "--dest-dir", built, book], check=True)
        shutil.rmtree(site, ignore_errors=True)
        site.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(built, site)


def main():
    words = sys.argv[1:]
    if len(words) == 4 and words[0] == "build":
        build(Path(words[1]).resolve(), Path(words[2]).resolve(), Path(words[3]).resolve())
    elif len(words) >= 2 and words[0] in ("check", "write", "reprint"):
        {"check": check, "write": write, "reprint": reprint}[words[0]](Path(words[1]), words[2:])
    else:
        raise SystemExit(__doc__)


main()
