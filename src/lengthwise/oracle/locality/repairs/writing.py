"""The file of a repaired layout: the original, what was copied from this package, and the two functions."""

from __future__ import annotations

import re
import textwrap
from importlib.resources import files
from typing import Any

from lengthwise.oracle.locality.repairs.original import Broken

_PACKAGE = "lengthwise.oracle.locality.repairs"
HEAD = '''"""{title}

{proof}

`lengthwise check --formulation` reads this file. step(state) and starts(size) are the repaired layout; answer(state)
gives the last state of the original chain from the last state of a repaired one.
"""

from __future__ import annotations

import itertools
import random
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import ModuleType
from typing import Any

'''
TAIL = """

# ---------------------------------------------------------------------------------------------- the repaired layout

repair = {made}


def starts(size):
    return ({begin} for start in original.starts(size))


def step(state):
    return repair.step(columns(state), original)


def answer(state):
    return given(repair.answer(columns(state)))
"""
DRAW = """

def draw(size, numbers):
    start = columns(original.draw(size, numbers))
    return {begin}
"""


def file_text(broken: Broken, made: Any, how: str, proof: str) -> str:
    """A Python file that needs the standard library alone, and this package where the original is part of it."""
    kind = type(made).__module__.rpartition(".")[2]
    begin = "repair.begin(start)" if kind == "sweep" else "repair.begin(start, original)"
    rule = "\n\n# " + "-" * 90 + " the original layout\n\n"
    said = [textwrap.fill(text, 120) for text in (f"{broken.name}, repaired: {how}", proof)]
    parts = [HEAD.format(title=said[0], proof=said[1]), _copied("shapes"), rule, broken.source]
    tail = TAIL + (DRAW if broken.original.draw is not None else "")
    return "".join([*parts, "\n\n", _copied(kind), tail.format(made=repr(made), begin=begin)])


def _copied(module: str) -> str:
    """A module of this package without its docstring and imports."""
    text = (files(_PACKAGE) / f"{module}.py").read_text(encoding="utf-8")
    body = re.sub(r'\A""".*?"""\n', "", text, flags=re.S)
    return re.sub(r"^(from|import) .*\n", "", body, flags=re.M).strip() + "\n"
