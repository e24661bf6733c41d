"""What a model cannot see: columns outside its window, the order of columns, or which side of a column is left.

Two positions that look the same to the model and need different labels are an obstruction, whatever it is trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.layout import Layout
from lengthwise.oracle.locality.steps import Steps, written
from lengthwise.oracle.locality.windows import windows_of
from lengthwise.oracle.opinion import Advice, Opinion, Question, Theory, encoding_names, theory
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.formulation import StepMove

SIGHT = theory(
    "sight",
    "sight of windows",
    "models whose attention is limited to sliding windows, without an encoding or with one that shows only offsets",
    "none",
    "other",
)
ORDER = theory(
    "order",
    "order of columns",
    "encoders, which have no causal mask: with `none` those that attend to all columns, with `none`, `alibi` or "
    "`kerple` those that see sliding windows",
    "none",
    "other",
)
XIAO = Reference("xiao2024", "Theorems 3.3 to 3.7, which are sufficient and not necessary")
explain(
    {
        "sight.unseen": "the step depends on what the model does not see",
        "sight.columns_only": "an output of the model depends on {columns} columns and no more, as its window and "
        "depth imply",
        "sight.all_columns": "the model has no causal mask, and attends to all columns",
        "sight.windows_only": "the model has no causal mask, and sees windows of {columns} columns and no more",
        "sight.narrow": "With this attention an output depends on {columns} columns",
        "sight.mirror": "With windows and `{encoding}` a model cannot distinguish a window from its mirror image",
        "sight.bag": "Without an encoding and a causal mask a model sees a bag of columns",
        "sight.why": "{sees}. `{one}` needs {label!r} at the position in brackets, but `{other}`, which looks the same "
        "there, needs {other_label!r}.",
        "advice.wider": "widen the window or deepen the model, or let attention reach everything",
        "advice.sided": "it shows on which side an offset lies",
    }
)


@dataclass(frozen=True)
class LabelClash:
    """Two positions that a model cannot distinguish, in brackets, and the label each needs."""

    one: str
    label: str
    other: str
    other_label: str


def obstruction(question: Question, layout: Layout, columns: int | None) -> Opinion | None:
    """Cannot hold, if the model gives the same answer at two positions that need different ones. `columns` is how many
    columns an output can depend on; None where it can depend on all.

    Attention may be limited to windows so narrow that such positions look the same. Or steps depend on an order that
    the model cannot see: without a causal mask no encoding makes a bag of all columns, and with sliding windows an
    encoding of distances alone does not distinguish a window from its mirror image.
    """
    steps, sizes, base = layout.steps, layout.sizes, encoding_names(question.encoding)[0]
    if columns is not None and (clash := window_clash(steps, sizes, columns)):
        only = Assumption("sight.columns_only", values={"columns": columns})
        return _blind(question, SIGHT, clash, "sight.narrow", only, Advice("window", "advice.wider"))
    clash, seen, sees = None, Assumption("sight.all_columns"), "sight.bag"
    if steps.form != "step":
        return None
    if columns is not None and base in ("none", "alibi", "kerple"):
        seen, sees = Assumption("sight.windows_only", values={"columns": columns}), "sight.mirror"
        clash = mirror_clash(steps, sizes, columns)
    elif base == "none" and not str(question.task.preset.get("attention", "")).startswith("window"):
        clash = bag_clash(steps, sizes)
    sided = Advice("encoding", "advice.sided", ("t5", "rope", "learned+offset"))
    return clash and _blind(question, ORDER, clash, sees, seen, sided)


def _blind(
    question: Question, theory: Theory, clash: LabelClash, sees: str, seen: Assumption, change: Advice
) -> Opinion:
    values = {"encoding": question.encoding, **seen.values, **vars(clash)}
    why = sentence("sight.why", {**values, "sees": sentence(sees, values)})
    grounds = Claim("sight.unseen", True, "", "proved", assumptions=(seen,), evidence=vars(clash))
    return question.opinion(theory, "cannot hold", why, grounds, reference=XIAO, changes=(change,))


def bag_clash(steps: Steps, sizes: Sequence[int]) -> LabelClash | None:
    """Two states with the same columns in another order, whose same column needs different labels."""

    def seen(move: StepMove) -> list[Hashable]:
        bag = tuple(sorted(move.state))
        return [(bag, column) for column in move.state]

    return _clash(steps, sizes, seen)


def window_clash(steps: Steps, sizes: Sequence[int], r: int) -> LabelClash | None:
    """Two positions whose windows of r columns are the same and that need different labels."""
    return _clash(steps, sizes, lambda move: list(windows_of(move.state, r)))


def mirror_clash(steps: Steps, sizes: Sequence[int], r: int) -> LabelClash | None:
    """Two positions whose windows of r columns are mirror images of each other and that need different labels. A model
    reads a mark before the first column and nothing after the last one, so the borders are distinguished."""

    def seen(move: StepMove) -> list[Hashable]:
        line, radius = (("<bos>",), *move.state), r // 2
        views: list[Hashable] = []
        for at, middle in enumerate(move.state, start=1):
            behind, ahead = line[max(0, at - radius) : at][::-1], line[at + 1 : at + 1 + radius]
            views.append((middle, *sorted((behind, ahead))))
        return views

    return _clash(steps, sizes, seen)


def _clash(steps: Steps, sizes: Sequence[int], seen: Callable[[StepMove], list[Hashable]]) -> LabelClash | None:
    """Two positions at which the same is seen and different labels are needed."""
    known: dict[Hashable, tuple[StepMove, int, str]] = {}
    for size in sizes:
        for move in steps.moves(size):
            for place, (view, label) in enumerate(zip(seen(move), move.labels, strict=True)):
                if label is None:
                    continue
                before, at, other = known.setdefault(view, (move, place, label))
                if other != label:
                    return LabelClash(written(before.state, at), other, written(move.state, place), label)
    return None
