#!/usr/bin/env python3
"""Writes what was published and what we measured side by side into the pages of the studies, from the stored results.

    scripts/studies.py write PROGRAM [STUDY...]   writes the tables
    scripts/studies.py check PROGRAM [STUDY...]   fails if a page has another table than its results give

docs/studies/published.toml has a table for each study:

    results   the stored results, by the name of their column: { embedded = "memory-and-disk-1" } is docs/results/memory-and-disk-1.plimsoll
    mix, load, arm, against, figure
              of rows that do not say so themselves
    rows      a row for each published figure

    what      the first column
    published the second; where it is a number with a unit, the results are compared with it
    arm       whose figure it is
    figure    throughput, p50, p95, p99, or the name of a figure, as `plimsoll report --json` has them
    over      if it is a ratio: of the figure of this arm
    against   if it is a difference: of an arm from this one, as its interval
    within    by how much it may differ and still agree
    expects   of a difference: what the publication found, as better, worse or none (of the arm)
    why       why it does not

In the page the table stands between the lines `<!-- published and ours -->` and `<!-- end -->`.
"""

import difflib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
STUDIES = DOCS / "studies"
BEGIN, END = "<!-- published and ours -->", "<!-- end -->"
UNITS = {"": 1, "op/s": 1, "%": 0.01, "µs": 1e3, "ms": 1e6, "s": 1e9, "times": 1}


def analysis(program, result, folder):
    """The analysis of a stored result, as JSON."""
    command = [program, "--store", f"{folder}/results.db", "report", DOCS / f"results/{result}.plimsoll", "--json"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout)


def point(found, row, arm):
    """The point of an arm at the mix and load of the row."""
    for curve in found["curves"]:
        if curve["arm"] == arm and curve["mix"] == row["mix"]:
            for one in curve["points"]:
                if one["load_label"] == row["load"]:
                    return one
    raise SystemExit(f"{row['what']}: no point of {arm} under {row['mix']} at {row['load']}")


def value(found, row, arm):
    """Median and interval of a figure; the interval of a figure of causes is its lowest and highest block."""
    one, figure = point(found, row, arm), row["figure"]
    if figure == "throughput":
        return one["throughput"]["median"], one["throughput"]["interval"]
    if figure in one["response"]:
        return one["response"][figure]["median"], one["response"][figure]["interval"]
    figures = one["figures"]
    return figures["median"].get(figure), [figures["lowest"].get(figure), figures["highest"].get(figure)]


def in_words(number, figure):
    if number is None:
        return "-"
    if figure.startswith("p") and figure[1:].isdigit():
        unit, scale = ("ms", 1e6) if number >= 1e5 else ("µs", 1e3)
        return f"{digits(number / scale)} {unit}"
    if figure.endswith("_ratio") or figure.endswith("_share"):
        return f"{100 * number:.3g} %"
    return digits(number)


def digits(number):
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def difference(found, row):
    """The interval of a difference in percent, and the verdict of it: better, worse or none."""
    metric = {"p99": {"metric": "response", "percentile": 99.0}}.get(row["figure"], {"metric": row["figure"]})
    for one in found["comparisons"]:
        if (one["baseline"], one["arm"], one["mix"], one["load_label"]) == (row["against"], row["arm"], row["mix"], row["load"]):
            if one["metric"].items() >= metric.items():
                low, high = one["verdict"]["interval"]
                verdict = one["verdict"]["judgement"]
                return f"{100 * low:+.1f} to {100 * high:+.1f} %", verdict if verdict in ("better", "worse") else "none"
    raise SystemExit(f"{row['what']}: {row['arm']} is not compared with {row['against']} under {row['mix']} at {row['load']}")


def ours(found, row):
    """What we measured in words, and as the number that is compared."""
    if "against" in row:
        return difference(found, row)
    median, interval = value(found, row, row["arm"])
    if "over" in row:
        whole, _ = value(found, row, row["over"])
        return f"{median / whole:.2f} times", median / whole
    words = in_words(median, row["figure"])
    if interval and None not in interval:
        words += f" ({in_words(interval[0], row['figure'])} to {in_words(interval[1], row['figure'])})"
    return words, median


def agreement(row, found):
    """Whether a result agrees with what was published."""
    if "expects" in row:
        return "yes" if found == row["expects"] else "no"
    published = re.match(r"(?:about )?([\d,.]+) ?(op/s|%|µs|ms|s|times)?$", row["published"])
    if not published or found is None or "within" not in row:
        return "-"
    ratio = found / (float(published[1].replace(",", "")) * UNITS[published[2] or ""])
    return f"{'yes' if abs(ratio - 1) <= row['within'] else 'no'}, {ratio:.2f} of it"


def table(program, study):
    with tempfile.TemporaryDirectory(prefix="plimsoll-studies-") as folder:
        results = {column: analysis(program, result, folder) for column, result in study["results"].items()}
    lines = ["| what | published | " + " | ".join(f"ours, {column}" for column in results) + " | does it agree? |"]
    lines.append("|" + "---|" * (len(results) + 3))
    places = {key: study[key] for key in ("mix", "load", "arm", "against", "figure") if key in study}
    for row in (places | row for row in study["rows"]):
        cells = [ours(found, row) for found in results.values()]
        agree = [agreement(row, value) for _, value in cells]
        agree = agree[0] if len(set(agree)) == 1 else " / ".join(agree)
        agree = ": ".join(filter(None, [agree, row.get("why", "")]))
        lines.append("| " + " | ".join([row["what"], row["published"], *(words for words, _ in cells), agree]) + " |")
    return lines


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("write", "check"):
        raise SystemExit(__doc__)
    studies = tomllib.loads((STUDIES / "published.toml").read_text())
    names = sys.argv[3:] or list(studies)
    wrong = 0
    for name in names:
        if name not in studies:
            raise SystemExit(f"{STUDIES / 'published.toml'} has no study {name}; it has {', '.join(studies)}")
        page = STUDIES / f"{name}.md"
        lines = page.read_text().splitlines()
        begin, end = lines.index(BEGIN) + 1, lines.index(END)
        made = ["", *table(sys.argv[2], studies[name]), ""]
        if sys.argv[1] == "write":
            lines[begin:end] = made
            page.write_text("\n".join(lines) + "\n")
        elif lines[begin:end] != made:
            wrong += 1
            print("\n".join(difflib.unified_diff(lines[begin:end], made, str(page), "its results", lineterm="")))
    if wrong:
        raise SystemExit(f"{wrong} tables are not those of the stored results: scripts/studies.py write {sys.argv[2]}")


main()
