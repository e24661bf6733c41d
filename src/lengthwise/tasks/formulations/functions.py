"""The functions of a layout in a user's Python file, called with care.

`step(state)` gives the next state or None at the end, `starts(size)` the first states of a size, as many as it likes.
`draw(size, random)`, one first state at random, may be given where a size has too many to list; `labels(state)` and
`sources(state)` too.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.limits import time_limit
from lengthwise.tasks.formulations.between import Side, appends, finished_labels, labels_between, state_of, written
from lengthwise.tasks.formulations.formulation import Labels, Sources, State, StepMove
from lengthwise.trust import module_in

LONGEST = 10_000  # steps of a chain
LARGEST = 5_000_000  # columns of all its states together
INSTANCES = 5_000  # first states of a size that are used
LOOKED_AT = 100_000  # first states of a size from which these are drawn
SECONDS = 10.0  # for one call of the user's function
_LOOKED_INTO, _FIRST = range(1, 5), 20  # sizes and first states of each that show whether steps append


@dataclass(frozen=True)
class Functions:
    """The user's functions: what they raise, and what they do for ever, is a usage error."""

    name: str
    step: Callable[[Any], Any]
    starts: Callable[[int], Iterable[Any]]
    labels: Callable[[Any], Any] | None = None
    sources: Callable[[Any], Any] | None = None
    draw: Callable[[int, random.Random], Any] | None = None

    def listed(self, size: int, most: int | None = None) -> list[State]:
        """The first states of a size that are looked at: `most`, or `LOOKED_AT`, where there are more."""
        what = self._what(size)
        return [state_of(value, what) for value in self._given(size, LOOKED_AT if most is None else most)]

    def first(self, size: int) -> list[State]:
        """Of the first states of a size at most `INSTANCES`, drawn at random; asked for once."""
        if size not in self._firsts:
            found, what = self._given(size, LOOKED_AT), self._what(size)
            found = random.Random(size).sample(found, INSTANCES) if len(found) > INSTANCES else found
            self._firsts[size] = [state_of(value, what) for value in found]
        return self._firsts[size]

    @functools.cached_property
    def _firsts(self) -> dict[int, list[State]]:
        return {}

    def _what(self, size: int) -> str:
        return f"{self.name}: starts({size})"

    def _given(self, size: int, most: int) -> list[Any]:
        what = self._what(size)
        with time_limit(what, 6 * SECONDS):
            return _called(lambda: list(itertools.islice(iter(self.starts(size)), most)), what)

    def drawn(self, size: int, number: int) -> State:
        """The first state that `draw` gives for a number."""
        draw, what = self.draw, f"{self.name}: draw({size}, random)"
        assert draw is not None
        with time_limit(what, SECONDS):
            return state_of(_called(lambda: draw(size, random.Random(f"{size} {number}")), what), what)

    def moves(self, start: State, seen: dict[State, State | None], side: Side) -> Iterator[StepMove]:
        """The steps from a first state, and last the one that leaves the finished state as it is."""
        state, met, columns = start, {start}, 0
        for _ in range(LONGEST):
            columns = self._grown(start, columns + len(state))
            after = self.following(state)
            if seen.setdefault(state, after) != after:
                ways = ("the end" if one is None else f"`{written(one)}`" for one in (seen[state], after))
                both = " and then ".join(ways)
                raise UsageError(f"{self.name} is not deterministic: from `{written(state)}` it goes to {both}")
            if after is None:
                carried = () if self.sources is None else tuple((place,) for place in range(len(state)))
                yield StepMove(state, state, self.labels_of(state, None, side), carried)
                return
            yield StepMove(state, after, self.labels_of(state, after, side), self._sources_of(state, after))
            if after in met:
                raise UsageError(f"{self.name}: the chain from `{written(start)}` comes back to `{written(after)}`")
            met.add(after)
            state = after
        raise self._endless(start)

    def chain(self, start: State) -> Iterator[State]:
        """The states from a first one to the finished one, of a chain that ends."""
        state, columns = start, 0
        for _ in range(LONGEST):
            columns = self._grown(start, columns + len(state))
            yield state
            if (after := self.following(state)) is None:
                return
            state = after
        raise self._endless(start)

    def _grown(self, start: State, columns: int) -> int:
        """The columns that a chain has by now, if it may have so many."""
        if columns > LARGEST:
            raise UsageError(
                f"{self.name}: the chain from `{written(start)}` has more than {LARGEST:,} columns in all its states"
            )
        return columns

    def _endless(self, start: State) -> UsageError:
        return UsageError(f"{self.name}: the chain from `{written(start)}` does not end within {LONGEST:,} steps")

    def following(self, state: State) -> State | None:
        """The next state; None for a finished one."""
        after = self._ask(self.step, "step", state)
        return None if after is None else state_of(after, f"{self.name}: step after `{written(state)}`")

    def labels_of(self, state: State, after: State | None, side: Side) -> Labels:
        """What is asked of a state whose next one is `after`, None where it is finished."""
        if self.labels is None:
            return finished_labels(state, self.appending) if after is None else labels_between(state, after, side)
        labels, most = self.labels, len(state) + LOOKED_AT
        texts = self._ask(lambda given: list(map(_text, itertools.islice(labels(given), most))), "labels", state)
        if len(texts) != len(state):
            raise UsageError(f"{self.name}: labels gives {len(texts)} for `{written(state)}`, which takes {len(state)}")
        return tuple(texts)

    def _sources_of(self, state: State, after: State) -> Sources:
        """For each column of the next state the places in this one that it is computed from; nothing where the user
        does not say."""
        if (sources := self.sources) is None:
            return ()
        found = self._ask(lambda given: _places(sources(given), len(after), len(state)), "sources", state)
        if len(found) != len(after) or not all(0 <= at < len(state) for places in found for at in places):
            raise UsageError(
                f"{self.name}: sources on `{written(state)}` must return, for each of the {len(after)} columns of the "
                f"next state, places from 0 to {len(state) - 1}"
            )
        return found

    @functools.cached_property
    def appending(self) -> bool:
        """Whether the first steps of the smaller sizes all append one column."""
        firsts = (state for size in _LOOKED_INTO for state in self.first(size)[:_FIRST])
        pairs = [(state, after) for state in firsts if (after := self.following(state)) is not None]
        return bool(pairs) and all(appends(state, after) for state, after in pairs)

    def _ask(self, function: Callable[[Any], Any], what: str, state: State) -> Any:
        given = list(state) if any(len(column) > 1 for column in state) else [token for (token,) in state]
        where = f"{self.name}: {what} on `{written(state)}`"
        with time_limit(where, SECONDS):
            return _called(lambda: function(given), where)


def functions_in(path: str) -> Functions | None:
    """The functions of a Python file, which must be allowed to run; None if it has no function `step`."""
    found = vars(module_in(path))
    if not callable(found.get("step")):
        return None
    if not callable(found.get("starts")):
        raise UsageError(f"{path} defines no function starts (size → first states)")
    given = {name: found.get(name) for name in ("labels", "sources", "draw")}
    return Functions(path, found["step"], found["starts"], **given)


def _text(label: Any) -> str | None:
    return None if label is None else str(label)


def _places(given: Iterable[Iterable[Any]], columns: int, width: int) -> Sources:
    """What a user says of each column, and a little more than there can be, which the caller refuses."""
    return tuple(
        tuple(sorted(int(at) for at in itertools.islice(places, width + 1)))
        for places in itertools.islice(given, columns + 1)
    )


def _called(call: Callable[[], Any], what: str) -> Any:
    try:
        return call()
    except UsageError:
        raise
    except Exception as error:
        said = str(error).splitlines()
        raise UsageError(f"{what} raises {type(error).__name__}{': ' + said[0] if said else ''}") from error
