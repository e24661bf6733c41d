"""A trained model on a ladder of shifts: what it gets right at each level, what it writes, what happens inside.

Both Lipschitz constants are in one metric. An input is what the first block reads, one vector per token; two inputs are
as far apart as the token that differs most, two outputs as the place whose logits differ most (the token norm of
docs/explanation/bounds.md). The certificate is for all inputs whose tokens lie in the smallest ball around the origin
that holds every embedding; it is made once per model. Items are in that ball, which is convex, so the derivative at an
item stretches nothing by more than the certified constant: `slope` is the largest stretching found at a few items and a
lower bound of the same constant, from gradients alone.

Let J be the derivative of the logits at an item, u a unit vector of logits at one place, and g = Jᵀu, a vector g_j for
each token. Moving every token by 1 along its g_j, d_j = g_j / |g_j|, moves the logits at that place by at least
u·(J d) = Σ_j |g_j|. So Σ_j |g_j| is a lower bound of max |J d| over all d of token norm 1, for any u. The search for a
good u is Boyd's power method (as in `lipschitz.attack.steepest`): take the place whose logits J d moves most, and u
along that movement. J d is there a difference quotient, which only steers the search: what is reported was
differentiated exactly. Forward-mode products would serve as well, and take several times as long for small models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.forward import embed, run_from
from lengthwise.models.parts import Anatomy
from lengthwise.models.placed import drawing
from lengthwise.models.transformer import Transformer
from lengthwise.positions import positions
from lengthwise.probes.ladder import LadderProbe
from lengthwise.probes.ladder.collapse import look_inside
from lengthwise.probes.ladder.decoding import Judgement, Taught, Written, judge, read_items, write_answers
from lengthwise.probes.ladder.level_items import LevelItems, draw_items, positions_for
from lengthwise.probes.ladder.levels import Calibrated, Example, Ladder, LevelPoint
from lengthwise.probes.lipschitz.attack import TINY, Map, size
from lengthwise.probes.lipschitz.certificate import certify
from lengthwise.probes.probe import Context
from lengthwise.seeds import Floats
from lengthwise.subjects.subject import Subject
from lengthwise.tasks.batch import lengths_of
from lengthwise.tasks.ladder import ladder_of
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task

ITEMS_SEED = 0  # of the items of a ladder, whatever the seed of a run: all runs of a task are asked the same
SHOWN = 2  # examples at a level that has some
STEEP_ITEMS, STEEP_STEPS = 4, 3

METRIC = (
    "the largest change of the logits at any one place, for a change of every token's embedding by at most 1, both in "
    "Euclidean length; over all embeddings in the smallest ball around the origin that holds those of the vocabulary"
)
BINS = 10  # of confidence
_APART = 1e-6  # how far a difference quotient reaches, as a share of the longest token


def climb(probe: LadderProbe, subject: Subject, context: Context) -> Ladder:
    """Measure a model on the ladder of the context's task. Nothing is random but the positions of encodings that draw
    them in testing, so models that are compared see the same items."""
    model, anatomy, task = subject.capability("transformer"), subject.capability("anatomy"), context.task
    if task is None or context.train_size is None:
        raise UsageError(
            f"a ladder begins with the training range, and it is not known what {subject.name} was trained on"
        )
    _check_climbs(model, task)
    drawn = [draw_items(level, probe.items, ITEMS_SEED) for level in ladder_of(task, context.train_size)]
    for items in drawn:  # a level beyond the model's reach is refused before the work
        positions_for(model, items, ITEMS_SEED)
    longest = max(items.task.width(size) for items in drawn for size in items.level.sizes)
    places = anatomy.places(min(longest, anatomy.longest or longest))  # as far as the model has positions
    shown = {items.level.axis: items.level.name for items in drawn}  # the training level and the last one of each axis
    smooth = all(block.attention.law.fused for block in anatomy.blocks)  # slopes are those of softmax
    points, examples = [], []
    for number, items in enumerate(drawn, start=1):
        slope = slope_at(anatomy, items.first(STEEP_ITEMS), places, STEEP_STEPS) if smooth else None
        point, some = climb_level(model, anatomy, items, probe, slope)
        points.append(point)
        if items.level.name in shown.values():
            examples += some
        said = f"{point.name}: {point.token:.0%} of tokens right, {point.solved} of {point.decoded} solved"
        context.progress(said, number, len(drawn))
    return Ladder(
        task=name_of(task),
        position=positions.text_of(model.architecture.position),
        train_size=context.train_size,
        seed=context.seed,
        settings=probe,
        points=tuple(points),
        examples=tuple(examples),
        certified=certified_constant(anatomy, places.shape[1]),
        metric=METRIC,
    )


def _check_climbs(model: Transformer, task: Task) -> None:
    """Refuse what a ladder cannot be measured with."""
    if not model.architecture.causal or task.readout == "numbers":
        raise UsageError("a ladder is climbed by a decoder that writes tokens; encoders and number tasks have none")
    if model.interface.vocabulary != len(task.vocabulary):
        raise UsageError(
            f"the model reads {model.interface.vocabulary} tokens and the task {name_of(task)} has "
            f"{len(task.vocabulary)}; give the task it was trained on"
        )


def climb_level(
    model: Transformer, anatomy: Anatomy, items: LevelItems, probe: LadderProbe, slope: float | None
) -> tuple[LevelPoint, list[Example]]:
    at = positions_for(model, items, ITEMS_SEED)
    taught = read_items(model, items.batch, at)
    some = items.first(probe.decoded)
    read = taught.first(probe.decoded, some.width)
    written = write_answers(model, some, read, at, 2 * items.longest)
    judged = [judge(items.task, *each) for each in zip(some.prompts, some.answers, written, strict=True)]
    hits, losses = taught.hits[taught.scored], taught.losses[taught.scored]
    loss = float(losses.mean())
    if not math.isfinite(loss):
        raise UsageError(
            f"the loss is {loss} at the level {items.level.name}; a smaller learning rate in training usually helps"
        )
    point = LevelPoint(
        axis=items.level.axis,
        value=items.level.value,
        right=int(taught.right.sum()),
        tokens=len(hits),
        tokens_right=int(hits.sum()),
        loss=loss,
        errors=tuple(taught.errors.tolist()),
        calibration=calibrate(taught.confidence[taught.scored], hits),
        decoded=len(written),
        valid=sum(judgement.valid for judgement in judged),
        solved=sum(judgement.solved for judgement in judged),
        inside=look_inside(anatomy, items.first(probe.inside), at),
        slope=slope,
    )
    return point, _examples(some, read, written, judged)


def _examples(
    items: LevelItems, taught: Taught, written: Sequence[Written], judged: Sequence[Judgement]
) -> list[Example]:
    """The first item that goes wrong and the first that does not; two of a kind where there is one kind only."""
    right, wrong = np.flatnonzero(taught.right), np.flatnonzero(~taught.right)
    rows = [*wrong[:1], *right[:1], *wrong[1:], *right[1:]][:SHOWN]
    return [
        Example(
            level=items.level.name,
            prompt=" ".join(items.prompts[row]),
            truth=" ".join(items.answers[row]),
            written=" ".join(written[row].tokens),
            wrong_at=_wrong_at(items.answers[row], written[row]),
            **vars(judged[row]),
        )
        for row in rows
    ]


def _wrong_at(truth: Sequence[str], written: Written) -> int | None:
    """The place of the first token that differs, the end of each being a token too."""
    own = (*written.tokens, None) if written.ended else written.tokens
    both = zip((*truth, None), own, strict=False)
    return next((place for place, (mine, true) in enumerate(both) if mine != true), None)


def calibrate(confidence: Floats, hits: NDArray[np.bool_]) -> Calibrated:
    """Confidence and accuracy by tenths of confidence, and the expected calibration error (naeini2015, section
    "Calibrated metrics"; equal widths): Σ over bins of count / all x |accuracy - mean confidence|.

    A confidence of exactly k/10 belongs to the bin that it begins, 1 to the last; an empty bin is (0, 0, 0).
    """
    place = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    sure = np.bincount(place, weights=confidence, minlength=BINS)
    right = np.bincount(place, weights=hits.astype(np.float64), minlength=BINS)
    whole = np.maximum(counts, 1)
    bins = tuple(zip(counts.tolist(), (sure / whole).tolist(), (right / whole).tolist(), strict=True))
    error = float(np.abs(sure - right).sum() / len(confidence))
    return Calibrated(float(confidence.mean()), error, bins)


def certified_constant(anatomy: Anatomy, length: int) -> float | None:
    """An upper bound for inputs of `length` tokens or fewer; None where there is none or it is infinite."""
    value = certify(anatomy, length, "ball").token.value
    return value if isinstance(value, float) else None


def slope_at(anatomy: Anatomy, items: LevelItems, places: Tensor, steps: int) -> float:
    """The largest lower bound found at these items; what lies behind the end of an item does not count. `places`
    [1, positions] are the positions of tokens."""
    at = places[:, : items.width]
    real = (torch.from_numpy(lengths_of(items.batch))[:, None] > torch.arange(items.width)).to(anatomy.embed.device)

    def logits(x: Tensor) -> Tensor:
        return run_from(anatomy, x, at).output * real[:, :, None]

    x = embed(anatomy, torch.from_numpy(items.batch.inputs), at)
    with drawing(0, x.device):
        direction = torch.randn_like(x)
    return float(steepness(logits, x, direction, steps).max())


def steepness(f: Map, x: Tensor, direction: Tensor, steps: int) -> Tensor:
    """The best lower bound of each item [B] that this number of steps finds, beginning with a direction [B, T, W]."""
    best, rows = x.new_zeros(len(x)), torch.arange(len(x), device=x.device)
    apart = _APART * float(x.norm(dim=2).max())
    for _ in range(steps):
        leaf = x.clone().requires_grad_(True)
        here = f(leaf)
        unit = direction / size(direction, "token").clamp(min=TINY)[:, None, None]
        with torch.no_grad():
            moved = f(x + apart * unit) - here
            most = moved.norm(dim=2).argmax(dim=1)
            along = moved[rows, most] / moved[rows, most].norm(dim=1, keepdim=True).clamp(min=TINY)
        (gradient,) = torch.autograd.grad((here[rows, most] * along).sum(), leaf)
        lengths = gradient.norm(dim=2, keepdim=True)
        best = torch.maximum(best, lengths.sum(dim=(1, 2)))
        direction = gradient / lengths.clamp(min=TINY)
    return best
