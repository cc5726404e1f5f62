"""Finding a result: by the program, or in a folder of an export."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from plimsoll._result import FRAMES, Result

_TABLES = ("points", "slices", "figures", "trials", "hosts")


class NoResult(Exception):
    """There is no such result, or the program cannot be called; the message says why."""


def load(
    source: str | os.PathLike[str] = "last",
    *,
    frames: str = "pandas",
    store: str | os.PathLike[str] | None = None,
    program: str | os.PathLike[str] | None = None,
) -> Result:
    """Loads a result.

    :param source: an id or its beginning, a name, `last`, a record or bundle file, or a folder that `plimsoll export` wrote as Parquet and JSON.
    :param frames: the library of the data frames, `pandas` (with pyarrow) or `polars`.
    :param store: the file with the results, where it is not the usual one.
    :param program: where the program `plimsoll` is, if it is neither installed with this package nor on PATH. A folder needs none.
    :raises NoResult: where there is none.
    """
    if frames not in FRAMES:
        raise ValueError(f"frames is {frames!r}: it can be {' or '.join(FRAMES)}")
    folder = Path(source)
    if folder.is_dir():
        return _read(folder, frames)
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as place:
        command = [os.fspath(program or _program())]
        if store is not None:
            command += ["--store", os.fspath(store)]
        command += ["export", "--only", "parquet,json", "--to", place, "--json", "--", os.fspath(source)]
        try:
            said = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise NoResult(f"cannot call {command[0]}: {error.strerror}; name the program with program=") from error
        if said.returncode != 0:
            raise NoResult(said.stderr.strip())
        return _read(Path(place), frames)


def _program() -> str:
    """The program of the same wheel, which is not on PATH where an environment is not activated; else that on PATH."""
    beside = Path(sysconfig.get_path("scripts")) / "plimsoll"
    return str(beside) if beside.is_file() else "plimsoll"


def _read(folder: Path, frames: str) -> Result:
    texts = {}
    for name in ("record", "analysis"):
        file = folder / f"{name}.json"
        if not file.is_file():
            raise NoResult(f"{folder} has no {file.name}: write it with `plimsoll export --only parquet,json --to {folder}`")
        try:
            texts[name] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise NoResult(f"cannot read {file}: {error}") from error
    library = importlib.import_module(frames)
    files = {name: folder / f"{name}.parquet" for name in _TABLES}
    tables = {name: library.read_parquet(file) for name, file in files.items() if file.is_file()}
    return Result(texts["record"], texts["analysis"], tables, frames)
