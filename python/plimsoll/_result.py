"""What was measured and what follows from it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

FRAMES = ("pandas", "polars")


@dataclass
class Result:
    """One experiment.

    Tables are data frames of the library that :func:`plimsoll.load` was asked for; `docs/exports.md` has their columns and units. A table that
    the experiment does not have, such as `trials` without a search, is `None`.
    """

    #: Everything that was measured, as in `record.json`.
    record: dict[str, Any]
    #: Everything that follows from it, as in `analysis.json`.
    analysis: dict[str, Any]
    #: Data frames by name.
    tables: dict[str, Any] = field(repr=False)
    #: `pandas` or `polars`.
    frames: str = "pandas"

    @property
    def id(self) -> str:
        """Unique in its store."""
        return self.record["id"]

    @property
    def name(self) -> str:
        """From the experiment file."""
        return self.record["name"]

    @property
    def headline(self) -> str:
        """What the whole comes to, in sentences."""
        return " ".join(self.analysis["headline"])

    @property
    def points(self) -> Any:
        """A row for each point of each run, valid or not."""
        return self.tables.get("points")

    @property
    def slices(self) -> Any:
        """A row for each second, operation and outcome."""
        return self.tables.get("slices")

    @property
    def figures(self) -> Any:
        """A row for each point of each run, with what was watched there."""
        return self.tables.get("figures")

    @property
    def trials(self) -> Any:
        """A row for each trial of each search for the plimsoll line."""
        return self.tables.get("trials")

    @property
    def hosts(self) -> Any:
        """A row for each machine of each arm, where several took part."""
        return self.tables.get("hosts")

    @cached_property
    def verdicts(self) -> Any:
        """A row for each comparison, those that decide first.

        `estimate`, `lower`, `upper` and `margin` are relative changes of the arm against its baseline: 0.05 is 5 % more.
        """
        rows = [_verdict(one) for one in self.analysis["comparisons"]]
        rows.sort(key=lambda row: not row["decides"])
        columns = {name: [row[name] for row in rows] for name in _COLUMNS}
        return importlib.import_module(self.frames).DataFrame(columns)


_COLUMNS = (
    "arm",
    "baseline",
    "mix",
    "load",
    "metric",
    "decides",
    "judgement",
    "estimate",
    "lower",
    "upper",
    "margin",
    "blocks",
    "sentence",
)


def _metric(metric: dict[str, Any]) -> str:
    """As experiment files spell it: `throughput`, `response.p99`."""
    name = metric["metric"]
    percentile = metric.get("percentile")
    return name if percentile is None else f"{name}.p{percentile:g}"


def _verdict(one: dict[str, Any]) -> dict[str, Any]:
    verdict = one["verdict"]
    lower, upper = verdict["interval"] or (None, None)
    return {
        "arm": one["arm"],
        "baseline": one["baseline"],
        "mix": one["mix"],
        "load": one["load_label"],
        "metric": _metric(one["metric"]),
        "decides": one["primary"],
        "judgement": verdict["judgement"],
        "estimate": verdict["estimate"],
        "lower": lower,
        "upper": upper,
        "margin": verdict["margin"],
        "blocks": verdict["blocks"],
        "sentence": one["sentence"],
    }
