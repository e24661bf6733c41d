"""Steps: chains of moves by size, all of a size or a sample, in the form that a model meets them in.

Also what a user may write as a state, and labels found by comparing a state with the next where none are given.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from lengthwise.errors import UsageError
from lengthwise.registry import format_spec
from lengthwise.seeds import Seeds
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.formulations.formulation import Column, Formulation, Labels, State, StepMove, column, symbol
from lengthwise.tasks.formulations.layouts import DROP, END, EQUALS, KEEP, Appending
from lengthwise.tasks.task import Task

Chains = Callable[[int], Iterable[Iterable[StepMove]]]
Form = Literal["step", "decoder"]
Side = Literal["left", "right"]
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


def remembered(steps: Steps) -> Steps:
    """The same steps, made once for each size and then kept; they are examined once for every width of windows."""

    @functools.cache
    def chains(size: int) -> list[list[StepMove]]:
        return [list(chain) for chain in steps.chains(size)]

    return replace(steps, chains=chains)


def drawn_steps(formulation: Formulation, items: int, seed: int = 0) -> Steps:
    """The very items a model is trained on: `items` of each size as the task draws them, one state each; an item of an
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


def written(state: State, mark: int | None = None) -> str:
    """A state as text, with one position in brackets."""
    return " ".join(f"[{symbol(column)}]" if place == mark else symbol(column) for place, column in enumerate(state))


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


def state_of(value: Any, where: str = "") -> State:
    """Text split at white space, or a list of tokens or of columns; `|` separates the lines of a column."""
    said = f"{where}: " if where else ""
    if isinstance(value, str):
        state = tuple([column(word) for word in value.split()])
    elif isinstance(value, list | tuple):
        state = tuple([_column(part, said) for part in value])
    else:
        raise UsageError(f"{said}a state is text or a list of tokens or columns, not {str(value)[:40]!r}")
    if not state:
        raise UsageError(f"{said}a state has at least one column")
    return state


def _column(part: Any, said: str) -> Column:
    if isinstance(part, str) and part and not part.isspace():
        return column(part)
    if isinstance(part, int) and not isinstance(part, bool):
        return (str(part),)
    if isinstance(part, list | tuple) and part:
        tokens = tuple(str(token) if isinstance(token, int) else token for token in part)
        if all(isinstance(token, str) and token and "|" not in token for token in tokens):
            return tokens
    raise UsageError(f"{said}a column is a token, or a list of tokens, one per line, not {str(part)[:40]!r}")


def is_guess(state: State, after: State) -> bool:
    """Whether a comparison leaves open where the change was: neither an equal length nor one column appended."""
    return len(after) != len(state) and not appends(state, after)


def appends(state: State, after: State) -> bool:
    """Whether a step wrote one column after the state and left the rest as it was."""
    return len(after) == len(state) + 1 and after[:-1] == state


def labels_between(state: State, after: State, side: Side = "left") -> Labels:
    """What is asked at each position so that the next state comes out.

    Equal lengths: the next column, or that this one is kept. One column appended: that column, at the last position
    alone. Otherwise the parts that both end and begin with are kept, and of what lies between the first columns are
    replaced by the new ones and the rest dropped; new columns for which there is no place stand in one label with the
    last that has one. Where tokens repeat the change could be in several places: it is put as far to the `side` as it
    goes.
    """
    if len(after) == len(state):
        return tuple(KEEP if old == new else symbol(new) for old, new in zip(state, after, strict=True))
    if not is_guess(state, after):
        return (*(None for _ in state[1:]), symbol(after[-1]))
    if side == "right":
        return _rewritten(state, after, *_shared(state, after))
    tail, head = _shared(state[::-1], after[::-1])
    return _rewritten(state, after, head, tail)


def finished_labels(state: State, appending: bool) -> Labels:
    """What is asked of a finished state: to keep every column or, where steps append, to end the text."""
    return (*(None for _ in state[1:]), END) if appending else (KEEP,) * len(state)


def _shared(state: State, after: State) -> tuple[int, int]:
    """How many columns both have in common at the beginning, and of the rest at the end."""
    shorter = min(len(state), len(after))
    head = next((at for at in range(shorter) if state[at] != after[at]), shorter)
    tail = next((at for at in range(shorter - head) if state[-1 - at] != after[-1 - at]), shorter - head)
    return head, tail


def _rewritten(state: State, after: State, head: int, tail: int) -> Labels:
    if head + tail == len(state):  # only inserted: the column before the place, or the first, says what comes there
        head, tail = (head - 1, tail) if head else (head, tail - 1)
    old, new = state[head : len(state) - tail], [symbol(column) for column in after[head : len(after) - tail]]
    if len(new) > len(old):
        new = [*new[: len(old) - 1], " ".join(new[len(old) - 1 :])]
    written = [*new, *[DROP] * (len(old) - len(new))]
    return (*[KEEP] * head, *written, *[KEEP] * tail)
