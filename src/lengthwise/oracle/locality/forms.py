"""The forms in which steps are put to a model: as a decoder's text, with the room for the answer shown, from a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.steps import Steps, formulation_steps
from lengthwise.tasks.formulations.appending import END, EQUALS, Appending
from lengthwise.tasks.formulations.formulation import Formulation, Labels, Move, State
from lengthwise.tasks.task import Task

SEPARATOR = (";",)
BLANK = ("_",)

Prompts = Callable[[int], Iterable[Sequence[str]]]  # all prompts of a size


def decoder_form(formulation: Formulation, items: int | None = None, seed: int = 0) -> Steps:
    """The formulation as a causal decoder meets it: the text is all states so far, joined by `;`, and one column is
    written at a time after it; the windows are those of the whole text. The end of the last state is `<eos>`.

    An appending formulation is a decoder's already. O((steps x length)^2) a chain, so for small sizes.
    """
    steps = formulation_steps(formulation, items, seed)
    if isinstance(formulation, Appending):
        return steps

    def chains(size: int) -> Iterator[Iterator[Move]]:
        return (_as_text([move.state for move in moves], moves[-1].after) for moves in map(list, steps.chains(size)))

    return Steps(f"{steps.name} as a decoder's text", chains, steps.exhaustive, sourced=False, form="decoder")


def with_room(formulation: Appending, items: int | None = None, seed: int = 0) -> Steps:
    """An appending formulation with the room for the rest of the answer shown as blanks, and no end to find.

    The label stands on the first blank. It is the layout of a model that maps a state to one of equal length.
    """
    if not isinstance(formulation, Appending):
        raise UsageError("only an appending formulation has room for the rest of its answer")
    steps = formulation_steps(formulation, items, seed)

    def chains(size: int) -> Iterator[Iterator[Move]]:
        return (_with_blanks(list(moves)[:-1]) for moves in steps.chains(size))

    return Steps(f"{steps.name} with the room for the answer shown", chains, steps.exhaustive)


def task_steps(
    task: Task,
    every: Prompts | None = None,
    items: int = 500,
    seed: int = 0,
    ended: bool = True,
    name: str = "",
) -> Steps:
    """Any task with a written answer as a decoder's steps: the state is the prompt, `=` and what was written so far.

    `every` gives all prompts of a size (those the task's solver refuses are left out); without it `items` are drawn.
    Without `ended` the end of the answer is not asked for.
    """
    if task.readout != "answer":
        raise UsageError(f"steps are written from answers, and the readout of this task is {task.readout!r}")

    def prompts(size: int) -> Iterable[Sequence[str]]:
        if every is not None:
            return every(size)
        if not task.has(size):
            return ()
        return dict.fromkeys(task.spelled(row) for row in task.draw(size, seed, range(items), "locality").prompts)

    def chains(size: int) -> Iterator[Iterator[Move]]:
        for prompt in prompts(size):
            try:
                answer = [str(token) for token in task.solve(prompt)]
            except UsageError:
                continue
            start = tuple((token,) for token in (*prompt, EQUALS))
            yield _appended(start, [(token,) for token in answer] + [(END,)] * ended)

    return Steps(name or type(task).__name__, chains, every is not None, sourced=False, form="decoder")


def _as_text(states: Sequence[State], last: State) -> Iterator[Move]:
    rest = [column for state in (*states[1:], last) for column in (SEPARATOR, *state)]
    return _appended(states[0], [*rest, (END,)])


def _appended(text: State, rest: Sequence[tuple[str, ...]]) -> Iterator[Move]:
    for column in rest:
        labels: Labels = (*(None for _ in text[1:]), "|".join(column))
        yield Move(text, (*text, column), labels, ())
        text = (*text, column)


def _with_blanks(moves: Sequence[Move]) -> Iterator[Move]:
    for left, move in zip(range(len(moves), 0, -1), moves, strict=True):
        labels = (*(None for _ in move.state), move.labels[-1], *(None,) * (left - 1))
        after = (*move.after, *(BLANK,) * (left - 1))
        place = len(move.state)
        carried = tuple((at,) for at in range(len(after)))
        # The step is taken on the blank; where the appending form reads its last position, it reads that and the blank.
        sources = tuple(sorted({*move.sources[-1], place}))
        yield Move((*move.state, *(BLANK,) * left), after, labels, (*carried[:place], sources, *carried[place + 1 :]))
