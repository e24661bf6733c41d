"""Whether a step can be taken from a window alone, without knowing the order of the columns, or without telling left
from right."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from lengthwise.oracle.locality.steps import Steps, written
from lengthwise.oracle.locality.windows import windows_of
from lengthwise.oracle.opinion import Theory
from lengthwise.tasks.formulations.formulation import Move

THEORY = Theory(
    "order of columns",
    "encoders, which have no causal mask: with `none` those that attend to all columns, with `none`, `alibi` or "
    "`kerple` those that see sliding windows",
    frozenset({"none", "other"}),
)


@dataclass(frozen=True)
class Clash:
    """Two places that a model cannot tell apart, in brackets, and the label each needs."""

    one: str
    label: str
    other: str
    other_label: str


def bag_clash(steps: Steps, sizes: Sequence[int]) -> Clash | None:
    """Two states with the same columns in another order, whose same column needs different labels."""

    def seen(move: Move) -> list[Hashable]:
        bag = tuple(sorted(move.state))
        return [(bag, column) for column in move.state]

    return _clash(steps, sizes, seen)


def window_clash(steps: Steps, sizes: Sequence[int], r: int) -> Clash | None:
    """Two places whose windows of r columns are the same and that need different labels."""
    return _clash(steps, sizes, lambda move: list(windows_of(move.state, r)))


def mirror_clash(steps: Steps, sizes: Sequence[int], r: int) -> Clash | None:
    """Two places whose windows of r columns are mirror images of each other and that need different labels.

    A model reads a mark before the first column and nothing behind the last one, so the borders are told apart.
    """

    def seen(move: Move) -> list[Hashable]:
        first, radius = (("<bos>",),), r // 2
        line = (*first, *move.state)
        windows = [line[max(0, place + 1 - radius) : place + 2 + radius] for place in range(len(move.state))]
        centres = [min(radius, place + 1) for place in range(len(move.state))]
        views = [(window[:at][::-1], window[at], window[at + 1 :]) for window, at in zip(windows, centres, strict=True)]
        return [(middle, *sorted((behind, ahead))) for behind, middle, ahead in views]

    return _clash(steps, sizes, seen)


def _clash(steps: Steps, sizes: Sequence[int], seen: Callable[[Move], list[Hashable]]) -> Clash | None:
    """Two places at which the same is seen and different labels are needed."""
    known: dict[Hashable, tuple[Move, int, str]] = {}
    for size in sizes:
        for move in steps.moves(size):
            for place, (view, label) in enumerate(zip(seen(move), move.labels, strict=True)):
                if label is None:
                    continue
                before, at, other = known.setdefault(view, (move, place, label))
                if other != label:
                    return Clash(written(before.state, at), other, written(move.state, place), label)
    return None
