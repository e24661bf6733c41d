"""The card of a layout of reasoning steps that a user brings as functions or as pairs of states."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from lengthwise.errors import UsageError
from lengthwise.oracle.check import POSITIONS, Card, check
from lengthwise.oracle.locality.layout import Layout, look
from lengthwise.oracle.locality.own import Own, load_formulation, settle_own
from lengthwise.oracle.locality.steps import Steps, kept_steps, remembered
from lengthwise.oracle.opinion import Verdict
from lengthwise.oracle.question import BATCH, STEPS, Case
from lengthwise.oracle.theories.locality import judge, without_end

STATES = 8_000  # of all sizes together
_USUAL = 20  # the training size, unless said


def check_formulation(
    path: str,
    positions: Sequence[str] = POSITIONS,
    *,
    train_size: int | None = None,
    test_size: int | None = None,
    items: int | None = None,
    seed: int = 0,
    decoder: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Card:
    """What is known about the formulation in a file: `layout.py`, `layout.py::Class` or `pairs.jsonl`.

    Of pairs, those up to `train_size` count as training (all of them unless it is given). `progress` is called
    with what was read, how many of them, and 0 for the total, which is not known.
    """
    own = load_formulation(path, progress)
    own = replace(own, steps=remembered(own.steps), other=own.other and remembered(own.other))
    if own.formulation is not None:
        choice = {"test_size": test_size, "items": items, "seed": seed, "name": path, "decoder": decoder}
        return check(own.formulation, positions, train_size=train_size, **choice)
    if decoder:
        raise UsageError(f"a decoder writes out the states of a class, as in layout.py::Class, but {path} names none")
    if own.sizes and items is not None:
        raise UsageError(f"the pairs in {path} are the training data, so no number of items can be planned")
    train_size = train_size or (max(own.sizes) if own.sizes else _USUAL)
    test_size = test_size or 3 * train_size
    layout = _layout(own, train_size, items or STEPS * BATCH, seed)
    endless = own.endless(layout.sizes)
    verdicts = {}
    for encoding in positions:
        asked = Case(path, encoding, train_size, test_size)
        opinion = without_end(asked, endless) if endless else judge(asked, layout)
        verdicts[encoding] = Verdict(encoding, (opinion,))
    return Card(path, train_size, test_size, verdicts, tuple(layout.claims()), notes=own.notes)


def _layout(own: Own, train_size: int, items: int, seed: int) -> Layout:
    """The layout as found in the sizes a file has, or in those whose states fit into the budget."""
    sizes = list(own.sizes) or _affordable(own)
    if not sizes:
        raise UsageError(f"{own.steps.name}: starts(size) gives no state for the sizes 1 to 12")
    further = [] if own.sizes else [size for size in range(sizes[-1] + 1, 14) if any(own.steps.moves(size))][:1]
    found, steps = settle_own(own, sizes, further=further)
    trained = [size for size in sizes if size <= train_size]
    if not trained:
        raise UsageError(f"{own.steps.name} has no states of size 1 to {train_size}; its sizes begin at {sizes[0]}")
    used = [size for size in sizes if size > train_size][-1:]  # larger ones may be too many to ask for
    sample = steps if own.sizes else _sample(steps, trained, items, seed)
    return look(steps, sizes, found, sample, trained, used)


def _sample(steps: Steps, sizes: Sequence[int], items: int, seed: int) -> Steps:
    """The steps of these sizes that come up when as many training items as planned are drawn, as many of each size."""
    chosen = []
    for size in sizes:
        moves = list(steps.moves(size))
        drawn = random.Random(f"{seed} {size}").choices(range(len(moves)), k=max(1, items // len(sizes)))
        chosen += [(size, moves[number]) for number in sorted(set(drawn))]
    return kept_steps(steps.name, chosen)


def _affordable(own: Own) -> list[int]:
    sizes, states = [], 0
    for size in range(1, 13):
        states += (found := sum(1 for _ in own.steps.moves(size)))
        if found:
            sizes.append(size)
        if states > STATES:
            break
    return sizes
