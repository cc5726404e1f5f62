"""The package on a real record: `plimsoll` is on PATH, and PLIMSOLL_STORE names a store whose last experiment has two arms."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import plimsoll

EXAMPLES = Path(__file__).parent.parent / "examples"


class Load(unittest.TestCase):
    def test_both_libraries_give_the_same(self):
        pandas = plimsoll.load("last")
        polars = plimsoll.load(pandas.id, frames="polars")
        self.assertEqual(type(pandas.points).__module__.split(".")[0], "pandas")
        self.assertEqual(type(polars.points).__module__.split(".")[0], "polars")
        for name in ("points", "slices", "figures"):
            one, other = getattr(pandas, name), getattr(polars, name)
            self.assertEqual(list(one.columns), list(other.columns), name)
            self.assertEqual(len(one), len(other), name)
        rates = "throughput_operations_per_second"
        self.assertEqual(list(pandas.points[rates]), polars.points[rates].to_list())
        self.assertIsNone(pandas.trials)

    def test_tables_are_those_of_the_record(self):
        result = plimsoll.load()
        self.assertEqual(result.name, result.record["name"])
        points = sum(len(run["points"]) + (run["load"] is not None) for run in result.record["runs"])
        self.assertEqual(len(result.points), points)
        self.assertEqual(result.headline, " ".join(result.analysis["headline"]))
        self.assertTrue(result.headline)

    def test_verdicts_say_what_the_analysis_says(self):
        result = plimsoll.load()
        verdicts = result.verdicts
        self.assertEqual(len(verdicts), len(result.analysis["comparisons"]))
        first = verdicts.iloc[0]
        self.assertTrue(first.decides)
        self.assertEqual(first.metric, "throughput")
        same = [
            one
            for one in result.analysis["comparisons"]
            if (one["arm"], one["mix"], one["load_label"]) == (first.arm, first.mix, first.load) and one["primary"]
        ]
        self.assertEqual(first.judgement, same[0]["verdict"]["judgement"])
        self.assertEqual(len(plimsoll.load(frames="polars").verdicts), len(verdicts))

    def test_a_folder_needs_no_program(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(plimsoll.NoResult, "has no record.json"):
                plimsoll.load(folder)
            export = ["plimsoll", "export", "last", "--only", "parquet,json", "--to", folder]
            subprocess.run(export, check=True, capture_output=True)
            result = plimsoll.load(folder, program="no-such-program")
            self.assertEqual(result.id, plimsoll.load().id)

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(plimsoll.NoResult, "no-such-experiment"):
            plimsoll.load("no-such-experiment")
        with self.assertRaisesRegex(plimsoll.NoResult, "cannot call no-such-program"):
            plimsoll.load(program="no-such-program")
        with self.assertRaisesRegex(ValueError, "pandas or polars"):
            plimsoll.load(frames="dask")

    def test_the_notebook_runs(self):
        notebook = json.loads((EXAMPLES / "verdict.ipynb").read_text(encoding="utf-8"))
        names = {}
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)  # noqa: S102
        self.assertIn("rates", names)


if __name__ == "__main__":
    unittest.main()
