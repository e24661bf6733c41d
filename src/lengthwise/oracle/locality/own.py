"""A user's own formulation: a Python file with a step function, a Formulation class, or a JSONL of pairs.

The functions of a Python file are `step(state)`, which gives the next state or None at the end, and `starts(size)`, the
first states of a size, as many as it likes. A state is a list of tokens or of columns (tuples of tokens), or text split
at white space with `|` between the lines of a column. `labels(state)` and `sources(state)` may be given too. The last
state of a chain is a step that leaves it as it is: a model that is run on its own output has to know where to stop.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.own_pairs import load_pairs
from lengthwise.oracle.locality.settle import WIDTHS, Locality, settle
from lengthwise.oracle.locality.steps import Steps, formulation_steps, remembered
from lengthwise.registry import allow_code, parse_spec
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.between import Side
from lengthwise.tasks.formulations.formulation import Formulation, State, StepMove
from lengthwise.tasks.formulations.functions import Functions, functions_in
from lengthwise.trust import module_in

STATES = 8_000  # that are examined, of all sizes together
FEWEST = 6  # sizes that are examined at least, if need be with a sample of their states
LARGEST, SAMPLED = 12, 16  # the largest size of all states, and of samples
_NEITHER = "{path} has neither a function step nor a subclass of Formulation"
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
    functions = functions_in(name)
    if functions is None:
        if not any(isinstance(one, type) and issubclass(one, Formulation) for one in vars(module_in(name)).values()):
            raise UsageError(_NEITHER.format(path=path))
        return _of_class(path)
    if functions.labels is not None:
        return Own(function_steps(functions), notes=(sentence("own.given"),))
    return Own(function_steps(functions), function_steps(functions, "right"), notes=(sentence("own.guessed"),))


def _of_class(path: str) -> Own:
    task = tasks.make(path)
    if not isinstance(task, Formulation):
        raise UsageError(_NEITHER.format(path=path))
    return Own(formulation_steps(task, name=path, finished=True), formulation=task)


def function_steps(functions: Functions, side: Side = "left") -> Steps:
    """The steps; a size with more than `INSTANCES` first states is sampled, so they are not said to be all."""
    seen: dict[State, State | None] = {}
    return Steps(
        functions.name,
        lambda size: (functions.moves(start, seen, side) for start in functions.first(size)),
        exhaustive=False,
        sourced=functions.sources is not None,
        guessed=functions.labels is None,
    )


def examinable(own: Own) -> tuple[Own, list[int], list[int]]:
    """The sizes to examine, those of a file of pairs or as many as their states allow, and the next one, at which what
    is found must hold as well. Where the states of fewer than `FEWEST` sizes fit into the budget, the steps are a
    sample of the chains of each size, so that larger sizes are seen too."""
    sizes = list(own.sizes) or _fitting(own.steps)
    thin = _thinned if not own.sizes and len(sizes) < FEWEST else remembered
    own = replace(own, steps=thin(own.steps), other=own.other and thin(own.other))
    if own.sizes:
        return own, sizes, []
    sizes = _fitting(own.steps, SAMPLED) if thin is _thinned else sizes
    if not sizes:
        raise UsageError(f"{own.steps.name}: starts(size) gives no state for the sizes 1 to {LARGEST}")
    later = range(sizes[-1] + 1, (SAMPLED if thin is _thinned else LARGEST) + 2)
    return own, sizes, [size for size in later if any(own.steps.moves(size))][:1]


def _fitting(steps: Steps, largest: int = LARGEST) -> list[int]:
    """The sizes up to the largest until their states are more than the budget."""
    sizes, states = [], 0
    for size in range(1, largest + 1):
        states += (found := sum(1 for _ in itertools.islice(steps.moves(size), STATES + 1)))
        sizes += [size] if found else []
        if states > STATES:
            break
    return sizes


def _thinned(steps: Steps) -> Steps:
    """Of every size some chains at random, with an equal share of the budget of states."""

    def chains(size: int) -> Iterator[list[StepMove]]:
        every, left = list(steps.chains(size)), STATES // SAMPLED
        random.Random(size).shuffle(every)
        for chain in every:
            if left <= 0:
                return
            moves = list(chain)
            left -= len(moves)
            yield moves

    return remembered(replace(steps, chains=chains))


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
