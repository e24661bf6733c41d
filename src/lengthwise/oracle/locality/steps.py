"""Steps: chains of moves by size, all of a size or a sample, in the form that a model meets them in."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lengthwise.errors import UsageError
from lengthwise.registry import format_spec
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.formulations.formulation import Column, Formulation, Labels, State, StepMove
from lengthwise.tasks.formulations.layouts import END, EQUALS, Appending
from lengthwise.tasks.task import Task

Chains = Callable[[int], Iterable[Iterable[StepMove]]]
Form = Literal["step", "decoder"]
SEPARATOR = (";",)
Prompts = Callable[[int], Iterable[Sequence[str]]]  # all prompts of a size


@dataclass(frozen=True)
class Steps:
    """The steps of a formulation, chain by chain.

    `chains(size)` gives the instances of a size, each as its moves in order. `exhaustive` says that these are all
    instances of the size, `sourced` that the moves say from where each column was computed, and `guessed` that labels
    were found by comparing a state with the next. In the form "step" a model maps a state to the next; in the form
    "decoder" it writes one token after all it has seen so far.
    """

    name: str
    chains: Chains
    exhaustive: bool = True
    sourced: bool = True
    form: Form = "step"
    guessed: bool = False

    def moves(self, size: int) -> Iterator[StepMove]:
        """All moves of a size."""
        return itertools.chain.from_iterable(self.chains(size))


def formulation_steps(
    formulation: Formulation, items: int | None = None, seed: int = 0, finished: bool = False, name: str = ""
) -> Steps:
    """The steps of a formulation: all instances of a size, or `items` random ones. With `finished` the last state of
    each chain is a move as well, the one that leaves it as it is: a model that has to find the end must know it."""

    def chains(size: int) -> Iterator[Iterator[StepMove]]:
        if not formulation.has(size):
            return
        if items is None:
            starts: Iterable[State] = formulation.instances(size)
        else:
            starts = formulation.starts(size, Seeds(seed).draws("locality", size, items=range(items)))
        for start in starts:
            every = (_move(formulation, state) for state in formulation.chain(start))
            yield every if finished else formulation.moves(start)

    return Steps(name or _name(formulation), chains, exhaustive=items is None, form=_form(formulation))


def is_end(move: StepMove) -> bool:
    """Whether this is where a chain stops: a finished state that is left as it is, or the end of a text."""
    return move.after == move.state or (bool(move.labels) and move.labels[-1] == END)


def without_ends(steps: Steps) -> Steps:
    """The same steps without those at which chains stop."""
    return replace(steps, chains=lambda size: ([m for m in chain if not is_end(m)] for chain in steps.chains(size)))


def all_combinations(steps: Steps, sizes: Iterable[int]) -> bool:
    """Whether the first states of each of these sizes have one length and are all combinations of the columns that they
    have at each place."""
    for size in sizes:
        firsts = {move.state for chain in steps.chains(size) for move in itertools.islice(chain, 1)}
        if len({len(state) for state in firsts}) != 1:
            return False
        if len(firsts) != math.prod(len(set(columns)) for columns in zip(*firsts, strict=True)):
            return False
    return True


def remembered(steps: Steps) -> Steps:
    """The same steps, made once for each size and then kept; they are examined once for every width of windows."""

    @functools.cache
    def chains(size: int) -> list[list[StepMove]]:
        return [list(chain) for chain in steps.chains(size)]

    return replace(steps, chains=chains)


def drawn_steps(formulation: Formulation, items: int, seed: int = 0) -> Steps:
    """The items on which a model is trained: `items` of each size as the task draws them, one state each; an item of an
    appending formulation is a prompt with its whole answer, so it gives every step of its chain."""

    def chains(size: int) -> Iterator[Iterator[StepMove]]:
        if not formulation.has(size):
            return
        samples, symbols = formulation.draw(size, seed, range(items), "train"), formulation.symbols
        for row in samples.prompts.tolist():
            state = formulation.read([symbols[index] for index in row if index != NOTHING])
            if isinstance(formulation, Appending):
                yield formulation.moves((*state, (EQUALS,)))
            else:
                yield iter([_move(formulation, state)])

    name = f"{items} drawn items of {_name(formulation)}"
    return Steps(name, chains, exhaustive=False, form=_form(formulation))


def kept_steps(name: str, moves: Iterable[tuple[int, StepMove]]) -> Steps:
    """Steps read from a file, each with its size and a chain of its own; their labels were guessed."""
    by_size: dict[int, list[StepMove]] = {}
    for size, move in moves:
        by_size.setdefault(size, []).append(move)
    form: Form = "step"
    if by_size and all(label is None for group in by_size.values() for move in group for label in move.labels[:-1]):
        form = "decoder"
    chains: Chains = lambda size: ([move] for move in by_size.get(size, ()))  # noqa: E731
    return Steps(name, chains, exhaustive=False, sourced=False, form=form, guessed=True)


def check_width(r: int) -> int:
    """The radius of windows of r columns, which have a middle."""
    if r < 1 or r % 2 == 0:
        raise UsageError(f"a window has a middle column, so its width is an odd number, not {r}")
    return r // 2


def _form(formulation: Formulation) -> Form:
    return "decoder" if isinstance(formulation, Appending) else "step"


def _move(formulation: Formulation, state: State) -> StepMove:
    after = formulation.step(state)
    return StepMove(state, state if after is None else after, formulation.labels(state), formulation.sources(state))


def _name(formulation: Formulation) -> str:
    spec = tasks.spec_of(formulation)
    return format_spec(spec) if spec else type(formulation).__name__


def decoder_form(formulation: Formulation, items: int | None = None, seed: int = 0) -> Steps:
    """The formulation as a causal decoder meets it: the text is all states so far, joined by `;`, and one column is
    written at a time after it; the windows are those of the whole text. The end of the last state is `<eos>`. An
    appending formulation is a decoder's already. O((steps x length)^2) per chain, so for small sizes."""
    steps = formulation_steps(formulation, items, seed)
    if isinstance(formulation, Appending):
        return steps

    def chains(size: int) -> Iterator[Iterator[StepMove]]:
        for moves in map(list, steps.chains(size)):
            yield _appended(moves[0].state, [part for move in moves for part in (SEPARATOR, *move.after)])

    return Steps(f"{steps.name} as a decoder's text", chains, steps.exhaustive, sourced=False, form="decoder")


def task_steps(task: Task, every: Prompts | None = None, items: int = 500, seed: int = 0) -> Steps:
    """Any task with a written answer as a decoder's steps: the state is the prompt, `=` and what was written so far.
    `every` gives all prompts of a size (those the task's solver refuses are left out); without it `items` are drawn."""
    if task.readout != "answer":
        raise UsageError(f"steps are written from answers, and the readout of this task is {task.readout!r}")

    def prompts(size: int) -> Iterable[Sequence[str]]:
        if every is not None:
            return every(size)
        if not task.has(size):
            return ()
        return dict.fromkeys(task.spelled(row) for row in task.draw(size, seed, range(items), "locality").prompts)

    def chains(size: int) -> Iterator[Iterator[StepMove]]:
        for prompt in prompts(size):
            try:
                answer = [str(token) for token in task.solve(prompt)]
            except UsageError:
                continue
            yield _appended(tuple((token,) for token in (*prompt, EQUALS)), [(token,) for token in answer])

    return Steps(type(task).__name__, chains, every is not None, sourced=False, form="decoder")


def _appended(text: State, rest: Iterable[Column]) -> Iterator[StepMove]:
    for onward in (*rest, (END,)):
        labels: Labels = (*(None for _ in text[1:]), "|".join(onward))
        yield StepMove(text, (*text, onward), labels, ())
        text = (*text, onward)
