"""The layout to repair: its two functions, whether they are a user's or those of a formulation, and their source."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.own import function_steps, load_formulation, settle_own
from lengthwise.oracle.locality.repairs.shapes import Original, State
from lengthwise.oracle.locality.settle import WIDTHS, Locality, settle
from lengthwise.oracle.locality.steps import Steps, formulation_steps, remembered
from lengthwise.reading import read_text
from lengthwise.registry import format_spec, parse_spec
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.between import state_of
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.formulations.functions import Functions
from lengthwise.tasks.formulations.layouts import END
from lengthwise.trust import module_in

BUDGET = 2_500  # states that are examined; a search looks at many layouts
STARTS = 1_000  # first states of a size that a search looks at
_LOOKED_AT = 10_000  # first states of a size from which these are drawn
_FEW = 200  # instances of a size where all of them are too many
FORMULATION = """\
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks

_task = tasks.make({spec!r})


def _step(state):
    after = _task.step(columns(state))
    return None if after is None or after[-1] == ({end!r},) else after


def _starts(size):
    if not _task.has(size):
        return []
    count = 1
    for choices in _task.ranges(size):
        count *= choices
    if count <= {most}:
        return _task.instances(size)
    return _task.starts(size, Seeds(0).draws("repair", size, items=range({most})))


def _draw(size, random):
    (start,) = _task.starts(size, Seeds(random.randrange(2**31)).draws("repair", size, items=range(1)))
    return start


original = Original(_step, _starts, _draw)
"""
USER = """\
_source = {source}
_layout = sys.modules["original_layout"] = ModuleType("original_layout")
_layout.__file__ = {file!r}
exec(compile(_source, "original layout", "exec", dont_inherit=True), _names := vars(_layout))
original = Original(_names["step"], _names["starts"], _names.get("draw"))
"""


@dataclass(frozen=True)
class Broken:
    """The layout as it is. `source` are the lines of a file that make `original` of it. Of the sizes in `cut` only the
    first `_LOOKED_AT` first states were listed, which in an enumeration are alike, as the layout draws none."""

    name: str
    original: Original
    sizes: tuple[int, ...]
    further: tuple[int, ...]
    steps: Steps
    before: Locality
    source: str
    cut: set[int] = field(default_factory=set)
    _kept: dict[int, list[State]] = field(default_factory=dict, repr=False)

    def starts(self, size: int) -> list[State]:
        """First states of a size: all of them, or a sample."""
        if size not in self._kept:
            self._kept[size] = list(itertools.islice(self.original.starts(size), STARTS))
        return self._kept[size]


def sizes_examined(steps: Steps) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes up to 12 whose states fit into the budget, and the next one, at which what was found must hold too."""
    sizes: list[int] = []
    states = 0
    for size in range(1, 13):
        states += (found := sum(1 for _ in steps.moves(size)))
        sizes += [size] if found else []
        if states > BUDGET:
            break
    if not sizes:
        raise UsageError(f"{steps.name}: starts(size) gives no state for the sizes 1 to 12")
    beyond = next((size for size in range(sizes[-1] + 1, 14) if any(steps.moves(size))), None)
    return tuple(sizes), () if beyond is None else (beyond,)


def load_broken(spec: str | dict[str, object], path: bool) -> Broken:
    """The layout of a file of functions (`path`), or a formulation by its name."""
    return _of_file(str(spec)) if path else _of_task(spec)


def _of_task(spec: str | dict[str, object]) -> Broken:
    task = tasks.make(spec)
    name = spec if isinstance(spec, str) else format_spec(spec)
    if not isinstance(task, Formulation):
        raise UsageError(f"{name} is not laid out in steps, so there is no layout to repair")

    def step(state: list[Any]) -> State | None:
        after = task.step(state_of(state))
        return None if after is None or after[-1] == (END,) else after

    def starts(size: int) -> Iterable[State]:
        if not task.has(size):
            return []
        if math.prod(task.ranges(size)) <= STARTS:
            return task.instances(size)
        return task.starts(size, Seeds(0).draws("repair", size, items=range(STARTS)))

    def draw(size: int, numbers: random.Random) -> State:
        return task.starts(size, Seeds(numbers.randrange(2**31)).draws("repair", size, items=range(1)))[0]

    functions = Functions(name, step, starts)
    steps = remembered(function_steps(functions))
    sizes, further = sizes_examined(steps)
    source = FORMULATION.format(spec=name, end=END, most=STARTS)
    laid = remembered(formulation_steps(task, finished=True))
    if any(math.prod(task.ranges(size)) > STARTS for size in sizes):
        laid = remembered(formulation_steps(task, _FEW, finished=True))
    before = settle(task, sizes, WIDTHS[:4], steps=laid, finished=True, further=further)
    original = Original(step, starts, draw)
    return Broken(name, original, sizes, further, steps, before, source)


def _of_file(path: str) -> Broken:
    name, _ = parse_spec(path)
    if not name.endswith(".py"):
        raise UsageError(
            f"only a file of functions, layout.py, or a formulation by its name can be repaired, not {path}"
        )
    own = load_formulation(path)
    found = vars(module_in(name))
    if own.formulation is not None:
        raise UsageError(f"{path} defines no functions step and starts; only a file that does is repaired")

    draw, cut = found.get("draw"), set[int]()

    @functools.cache
    def starts(size: int) -> list[Any]:
        some = list(itertools.islice(iter(found["starts"](size)), _LOOKED_AT))
        if draw is None and len(some) == _LOOKED_AT:
            cut.add(size)
        return random.Random(size).sample(some, STARTS) if len(some) > STARTS else some

    functions = Functions(name, found["step"], starts, found.get("labels"), found.get("sources"))
    steps = remembered(function_steps(functions))
    sizes, further = sizes_examined(steps)
    other = own.other and remembered(function_steps(functions, "right"))
    before, _ = settle_own(replace(own, steps=steps, other=other), sizes, WIDTHS[:4], further)
    source = USER.format(source=_quoted(read_text(name)), file=str(Path(name).resolve()))
    return Broken(name, Original(found["step"], starts, draw), sizes, further, steps, before, source, cut)


def _quoted(text: str) -> str:
    """A text as Python writes it, line by line."""
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return '"""\\\n' + (escaped if escaped.endswith("\n") else escaped + "\n") + '"""'
