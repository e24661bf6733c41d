"""A user's own formulation: a Python file with a step function, a Formulation class, or a JSONL of pairs.

The functions of a Python file are `step(state)`, which gives the next state or None at the end, and `starts(size)`, the
first states of a size, as many as it likes. A state is a list of tokens or of columns (tuples of tokens), or text split
at white space with `|` between the lines of a column. `labels(state)` and `sources(state)` may be given too. The last
state of a chain is a step that leaves it as it is: a model that is run on its own output has to know where to stop.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import random
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.own_pairs import load_pairs
from lengthwise.oracle.locality.settle import WIDTHS, Locality, settle
from lengthwise.oracle.locality.steps import (
    Side,
    Steps,
    appends,
    finished_labels,
    formulation_steps,
    labels_between,
    state_of,
    written,
)
from lengthwise.registry import allow_code, parse_spec
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.formulation import Formulation, Labels, State, StepMove
from lengthwise.trust import module_in

LONGEST = 10_000  # steps of a chain
INSTANCES = 5_000  # first states of a size that are used
LOOKED_AT = 100_000  # first states of a size from which these are drawn
SECONDS = 10.0  # for one call of the user's function
_LOOKED_INTO, _FIRST = range(1, 5), 20  # sizes and first states of each that show whether steps append
explain(
    {
        "own.endless": "New tokens keep appearing as the size grows ({tokens}): over an unbounded alphabet no finite "
        "set of windows covers every step (Theorem 3.1.2); write numbers digit by digit.",
        "own.tokens_at": "{count} at {size}",
        "own.guessed": "labels are found by comparing a state with the next; define labels(state) to give your own",
        "own.given": "labels are those of the file",
    }
)


def new_tokens(steps: Steps, sizes: Iterable[int]) -> dict[int, int]:
    """How many tokens come for the first time at each size."""
    known: set[str] = set()
    counts = {}
    for size in sizes:
        before = len(known)
        known.update(token for move in steps.moves(size) for column in move.state for token in column)
        counts[size] = len(known) - before
    return counts


def alphabet_note(counts: dict[int, int]) -> str | None:
    """A sentence if each of the last three sizes brought new tokens: no finite set of windows covers the steps."""
    sizes = list(counts)[-3:]
    if len(counts) <= 3 or not all(counts[size] for size in sizes):
        return None
    tokens = [sentence("own.tokens_at", {"count": counts[size], "size": size}) for size in sizes]
    return sentence("own.endless", {"tokens": ", ".join(tokens)})


@contextlib.contextmanager
def time_limit(seconds: float, sentence: str) -> Iterator[None]:
    """End what runs inside after `seconds` with a usage error. Only in the main thread, and where there are signals."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise UsageError(sentence)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True)
class Own:
    """A formulation that was read: its steps, and where labels were guessed those with the other guess; the class if
    it is one, the sizes of a file, and what to know of it."""

    steps: Steps
    other: Steps | None = None
    formulation: Formulation | None = None
    sizes: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    tokens_by_size: dict[int, int] | None = None

    def endless(self, sizes: Sequence[int]) -> str | None:
        """A sentence when the tokens do not come to an end on these sizes."""
        return alphabet_note(self.tokens_by_size or new_tokens(self.steps, sizes))


def load_formulation(path: str, progress: Callable[[str, int, int], None] | None = None) -> Own:
    """The formulation in a file: `layout.py`, `layout.py::Class:setting=1` or `pairs.jsonl`."""
    name, _ = parse_spec(path)
    if not name.partition("::")[0].endswith(".py"):
        pairs = load_pairs(path, progress=progress)
        return Own(pairs.steps, pairs.other, None, pairs.sizes, pairs.notes(), pairs.tokens_by_size)
    if "::" in name:
        return _of_class(path)
    allow_code(name)
    found = vars(module_in(name))
    if not callable(found.get("step")):
        return _of_class(path)
    if not callable(found.get("starts")):
        raise UsageError(f"{name} defines no function starts (size → first states)")
    functions = Functions(name, found["step"], found["starts"], found.get("labels"), found.get("sources"))
    if functions.labels is not None:
        return Own(functions.as_steps(), notes=(sentence("own.given"),))
    return Own(functions.as_steps(), functions.as_steps("right"), notes=(sentence("own.guessed"),))


def _of_class(path: str) -> Own:
    task = tasks.make(path)
    if not isinstance(task, Formulation):
        raise UsageError(f"{path} has neither a function step nor a subclass of Formulation")
    return Own(formulation_steps(task, name=path, finished=True), formulation=task)


@dataclass(frozen=True)
class Functions:
    """The user's functions, called with care: what they raise, and what they do for ever, is a usage error."""

    name: str
    step: Callable[[Any], Any]
    starts: Callable[[int], Iterable[Any]]
    labels: Callable[[Any], Any] | None = None
    sources: Callable[[Any], Any] | None = None

    def as_steps(self, side: Side = "left") -> Steps:
        """The steps; a size with more than `INSTANCES` first states is sampled, so they are not said to be all."""
        seen: dict[State, State | None] = {}
        return Steps(
            self.name,
            lambda size: (self._moves(start, seen, side) for start in self._first(size)),
            exhaustive=False,
            sourced=self.sources is not None,
            guessed=self.labels is None,
        )

    def _first(self, size: int) -> list[State]:
        what = f"{self.name}: starts({size})"
        with time_limit(6 * SECONDS, f"{what} takes more than {6 * SECONDS:.0f} seconds"):
            found = _called(lambda: list(itertools.islice(iter(self.starts(size)), LOOKED_AT)), what)
        if len(found) > INSTANCES:
            found = random.Random(size).sample(found, INSTANCES)
        return [state_of(value, what) for value in found]

    def _moves(self, start: State, seen: dict[State, State | None], side: Side) -> Iterator[StepMove]:
        state, met = start, {start}
        for _ in range(LONGEST):
            after = self._next(state)
            if seen.setdefault(state, after) != after:
                ways = ("the end" if one is None else f"`{written(one)}`" for one in (seen[state], after))
                both = " and then ".join(ways)
                raise UsageError(f"{self.name} is not deterministic: from `{written(state)}` it goes to {both}")
            if after is None:
                kept = self.labels is None and finished_labels(state, self._appending)
                carried = () if self.sources is None else tuple((place,) for place in range(len(state)))
                yield StepMove(state, state, kept or self._labels(state, state, side), carried)
                return
            read = self._ask(self.sources, "sources", state) if self.sources else ()
            sources = tuple(tuple(sorted(int(at) for at in places)) for places in read)
            yield StepMove(state, after, self._labels(state, after, side), sources)
            if after in met:
                raise UsageError(f"{self.name}: the chain from `{written(start)}` comes back to `{written(after)}`")
            met.add(after)
            state = after
        raise UsageError(f"{self.name}: the chain from `{written(start)}` does not end within {LONGEST:,} steps")

    def _next(self, state: State) -> State | None:
        after = self._ask(self.step, "step", state)
        return None if after is None else state_of(after, f"{self.name}: step after `{written(state)}`")

    def _labels(self, state: State, after: State, side: Side) -> Labels:
        if self.labels is None:
            return labels_between(state, after, side)
        given = list(self._ask(self.labels, "labels", state))
        if len(given) != len(state):
            raise UsageError(f"{self.name}: labels gives {len(given)} for `{written(state)}`, which takes {len(state)}")
        return tuple(None if label is None else str(label) for label in given)

    @functools.cached_property
    def _appending(self) -> bool:
        """Whether the first steps of the smaller sizes all append one column."""
        firsts = (state for size in _LOOKED_INTO for state in self._first(size)[:_FIRST])
        pairs = [(state, after) for state in firsts if (after := self._next(state)) is not None]
        return bool(pairs) and all(appends(state, after) for state, after in pairs)

    def _ask(self, function: Callable[[Any], Any], what: str, state: State) -> Any:
        given = list(state) if any(len(column) > 1 for column in state) else [token for (token,) in state]
        where = f"{self.name}: {what} on `{written(state)}`"
        with time_limit(SECONDS, f"{where} takes more than {SECONDS:.0f} seconds"):
            return _called(lambda: function(given), where)


def _called(call: Callable[[], Any], what: str) -> Any:
    try:
        return call()
    except UsageError:
        raise
    except Exception as error:
        said = str(error).splitlines()
        raise UsageError(f"{what} raises {type(error).__name__}{': ' + said[0] if said else ''}") from error


def settle_own(
    own: Own, sizes: Sequence[int] = (), widths: Sequence[int] = WIDTHS, further: Sequence[int] = ()
) -> tuple[Locality, Steps]:
    """The locality of a formulation that was read, and the steps it is about: of two guesses of its labels one that is
    settled, if either is. What is settled at these sizes must stay so at the `further` ones."""
    sizes = sizes or own.sizes
    if not sizes:
        raise UsageError("the sizes to examine are missing; a file with functions has none of its own")
    found = settle(own.formulation or own.steps, sizes, widths, finished=True, further=further)
    if own.other is None or found.verdict in ("CONSISTENT", "PROVED"):
        return found, own.steps
    other = settle(own.other, sizes, widths, further=further)
    return (other, own.other) if other.verdict == "CONSISTENT" else (found, own.steps)
