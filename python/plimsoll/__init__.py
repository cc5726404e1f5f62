"""Results of Plimsoll, a database benchmark laboratory, as data frames of pandas or polars.

>>> import plimsoll
>>> result = plimsoll.load("last")  # doctest: +SKIP
>>> result.verdicts  # doctest: +SKIP
"""

from plimsoll._load import NoResult, load
from plimsoll._result import Result

__all__ = ["NoResult", "Result", "load"]
__version__ = "0.1.0"
