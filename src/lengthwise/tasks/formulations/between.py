"""What a user may write as a state, and the labels between a state and the next, both ways.

Where a layout gives no labels they are found by comparing a state with the next; `applied` makes the next state of a
state and such labels, so that a model that predicts them can be run.
"""

from __future__ import annotations

from typing import Any, Literal

from lengthwise.errors import UsageError
from lengthwise.limits import MOST_SIZE, check_count
from lengthwise.tasks.batch import BOS, PAD, SEP, SPECIALS
from lengthwise.tasks.formulations.formulation import Column, Labels, State, column, symbol
from lengthwise.tasks.formulations.layouts import DROP, END, KEEP

Side = Literal["left", "right"]
_AROUND = tuple(SPECIALS[token] for token in (PAD, BOS, SEP))  # `<eos>` may end the text of a layout that appends
_RESERVED: frozenset[Column] = frozenset((token,) for token in (KEEP, DROP, *_AROUND))


def written(state: State, mark: int | None = None) -> str:
    """A state as text, with one position in brackets."""
    return " ".join(f"[{symbol(column)}]" if place == mark else symbol(column) for place, column in enumerate(state))


def state_of(value: Any, where: str = "") -> State:
    """Text split at white space, or a list of tokens or of columns; `|` separates the lines of a column."""
    said = f"{where}: " if where else ""
    if isinstance(value, str):
        state = tuple([column(word) for word in value.split()])
    elif isinstance(value, list | tuple):
        state = tuple([_column(part, said) for part in value])
    else:
        raise UsageError(f"{said}a state must be text or a list of tokens or columns, not {str(value)[:40]!r}")
    if not state:
        raise UsageError(f"{said}a state must have at least one column")
    check_count(len(state), f"{said}the number of columns of a state", MOST_SIZE)
    if not _RESERVED.isdisjoint(state):
        (token,) = next(column for column in state if column in _RESERVED)
        use = "keeping or dropping a column" if token in (KEEP, DROP) else "what a model reads around a state"
        raise UsageError(f"{said}the token {token} is reserved for {use}; rename it")
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
    raise UsageError(f"{said}a column must be a token, or a list of tokens, one per line, not {str(part)[:40]!r}")


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


def applied(state: State, labels: Labels, appending: bool) -> State:
    """The next state, from labels as `labels_between` and `finished_labels` give them; no label keeps a column. Where
    steps append, the last label alone counts."""
    if len(labels) != len(state):
        raise UsageError(f"a state of {len(state)} columns takes as many labels, not {len(labels)}")
    if appending:
        return state if labels[-1] in (None, KEEP, END) else (*state, column(str(labels[-1])))
    after: list[Column] = []
    for same, label in zip(state, labels, strict=True):
        if label is None or label == KEEP:
            after.append(same)
        elif label != DROP:
            after += [column(word) for word in label.split()]
    return tuple(after)
