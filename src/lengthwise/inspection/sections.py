"""The sections of an inspection, in the order in which they are shown. One more is a function under `@section`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import torch

from lengthwise.errors import UsageError
from lengthwise.inspection.attack import lower_bound, lower_bound_near
from lengthwise.inspection.content import Picture, Section, Table
from lengthwise.inspection.inputs import Inputs
from lengthwise.inspection.layers import Matrix, Radius, matrices, norm_gains, radii
from lengthwise.inspection.lipschitz import certify, certify_near
from lengthwise.inspection.margins import HeadMargin, margins
from lengthwise.inspection.shift_gap import CAVEAT, shift_gap
from lengthwise.inspection.subject import Subject
from lengthwise.models.forward import Trace
from lengthwise.models.parts import Anatomy
from lengthwise.records import Claim

LARGE = 20_000_000  # parameters from which on a section does less, so that all of them together take minutes at most


@dataclass(frozen=True, eq=False)
class Look:
    """What a section may use: the parts, the inputs and a forward pass on them, and the seed of what it draws.

    `longer(items, longest)` gives longer inputs from the same source, for a section that asks what length does: so many
    sequences (unless the user said how many) of at most so many tokens. No forward pass on them is kept. `subject` says
    where the model comes from.
    """

    anatomy: Anatomy
    inputs: Inputs
    trace: Trace
    seed: int = 0
    longer: Callable[[int, int], Inputs] | None = None
    subject: Subject | None = None


Maker = Callable[[Look], Section]
SECTIONS: dict[str, Maker] = {}


def section(name: str) -> Callable[[Maker], Maker]:
    """Decorator: the function makes the section of this name."""

    def add(make: Maker) -> Maker:
        if name in SECTIONS:
            raise ValueError(f"there is a section {name!r} already")
        SECTIONS[name] = make
        return make

    return add


@section("layers")
def layers(look: Look) -> Section:
    """Parts, their sizes and norms, and how long hidden states are."""
    found = matrices(look.anatomy)
    by_place = {matrix.place: matrix for matrix in found}
    kinds = ("query", "key", "value", "out", "mlp in", "mlp gate", "mlp out")
    kinds = tuple(kind for kind in kinds if f"block 0 {kind}" in by_place)
    rows = []
    for number in range(len(look.anatomy.blocks)):
        own = [by_place[f"block {number} {kind}"] for kind in kinds]
        rows.append((number, *(matrix.spectral for matrix in own)))
    outside = [m for m in found if not m.place.startswith("block ")]
    total = look.anatomy.parameters
    text = [
        f"{total:,} parameters, of which {_in_blocks(found):,} are in the matrices of {len(rows)} blocks. "
        "Outside of them: " + ", ".join(f"{m.place} {m.shape[0]:,} × {m.shape[1]:,}" for m in outside) + "."
    ]
    lengths = radii(look.trace)
    every = tuple((m.place, f"{m.shape[0]} × {m.shape[1]}", m.parameters, m.spectral, m.frobenius) for m in found)
    stream = [r for r in lengths if not r.place.endswith(" attention")]
    return Section(
        "layers",
        "Layers",
        tuple(text),
        tables=(
            Table("Spectral norms by block", ("block", *kinds), tuple(rows), "the most a matrix stretches a vector"),
            Table(
                "Lengths of hidden states",
                ("after", "least", "median", "greatest"),
                tuple((r.place, r.least, r.median, r.greatest) for r in stream),
                "over all tokens of the inputs",
            ),
        ),
        details=(
            Table("All matrices", ("matrix", "shape", "parameters", "spectral", "Frobenius"), every),
            Table("Norms", ("place", "kind", "largest weight"), tuple(norm_gains(look.anatomy))),
            Table(
                "Lengths of hidden states, all places",
                ("after", "least", "median", "greatest"),
                tuple((r.place, r.least, r.median, r.greatest) for r in lengths),
            ),
        ),
        pictures=(_radius_picture(lengths),),
    )


def _in_blocks(found: list[Matrix]) -> int:
    return sum(matrix.parameters for matrix in found if matrix.place.startswith("block "))


def _radius_picture(lengths: list[Radius]) -> Picture:
    rows = tuple(
        {"x": place, "y": value, "series": series}
        for place, r in enumerate(lengths)
        for series, value in (("least", r.least), ("median", r.median), ("greatest", r.greatest))
    )
    words = f"Hidden states are {lengths[0].median:.3g} long at the median when they enter and "
    words += f"{lengths[-2].median:.3g} when they leave the last block."
    return Picture("lines", "Lengths of hidden states", words, "places in the forward pass", "norm", rows, "y")


@section("lipschitz")
def lipschitz(look: Look) -> Section:
    """How much the whole model can stretch distances: what was seen, and what is certified."""
    if look.anatomy.embed.dtype != torch.float64:
        raise UsageError("certificates are computed from float64 parts, and those of so large a model are float32")
    large = look.anatomy.parameters > LARGE
    tokens = look.inputs.tokens[:1, :16] if large else look.inputs.tokens
    length, near, ball = tokens.shape[1], "near the inputs", "any input in the ball"
    sets = {near: certify_near(look.anatomy, tokens)}
    seen = {near: lower_bound_near(look.anatomy, tokens, steps=3 if large else 20, seed=look.seed)}
    if not large:
        sets[ball] = certify(look.anatomy, length)
        sets["any two token sequences"] = certify(look.anatomy, length, "tokens")
        seen[ball] = lower_bound(look.anatomy, length, attempts=8, steps=20, seed=look.seed)
    rows = []
    for name, certificate in sets.items():
        least, most = _number(seen.get(name)), _number(certificate.token)
        if least is not None and most is not None and least > most * (1 + 1e-9):
            raise AssertionError(f"{name}: {least} was seen where at most {most} is certified")
        rows.append((name, least, most, _number(certificate.frobenius)))
    least, most = rows[0][1:3]
    parts = sets[near].rows
    text = (
        f"How much the output can change for a change of what the first block reads, on sequences of {length} tokens. "
        "Token: the longest change of a token; Frobenius: of all tokens together. What was seen is a lower bound, what "
        "is certified an upper one; near the inputs, both are about the derivative there.",
    )
    if least and most and most > 1e6 * least:
        text += (f"Near the inputs {most / least:.1g} times more is certified than was seen: too much to be of use.",)
    if large:
        text += (
            f"As the model is large, this was done for the first {length} tokens of the first sequence alone, and not "
            "for all inputs there are.",
        )
    return Section(
        "lipschitz",
        "Lipschitz constants",
        text,
        tuple(c for name in sets for c in (*([seen[name]] if name in seen else []), sets[name].token)),
        (Table("Constants", ("set", "seen, token", "certified, token", "certified, Frobenius"), tuple(rows)),),
        (
            Table(
                "Certified constants of the parts, near the inputs",
                ("part", "token", "Frobenius", "refused"),
                tuple((r.part, r.token.constant, r.frobenius.constant, r.refused) for r in parts),
            ),
        ),
    )


def _number(claim: Claim | None) -> float | None:
    return float(claim.value) if claim is not None and isinstance(claim.value, int | float) else None


@section("shift")
def shift(look: Look) -> Section:
    """What moving all positions does."""
    found = shift_gap(look.anatomy, look.inputs.tokens)
    rows = tuple((r.shift, r.gap, r.share, r.changed) for r in found.rows)
    told = "no shift changes an output by more than rounding does" if found.invariant else "outputs change"
    text = (
        f"The change of the output when all positions move on by s and nothing else changes: {told} "
        f"(rounding: up to {found.tolerance:.1g}).",
        f"Mind: {CAVEAT}. A gap of 0 does not promise that longer inputs go well.",
    )
    table = Table(
        "Shift gap",
        ("s", "gap", "gap / output", "best changed"),
        rows,
        "gap: largest l2 change of an output vector; output: root mean square of their norms; best changed: share of "
        "tokens whose best-scored output becomes another",
    )
    picture = Picture(
        "lines",
        "Shift gap as a share of the size of outputs",
        f"The largest change is {found.worst.share:.3g} of the size of outputs, at a shift of {found.worst.shift}.",
        "shift",
        "gap / output",
        tuple({"x": r.shift, "y": r.share, "series": "gap / output"} for r in found.rows),
        "x",
    )
    pictures = () if found.invariant or len(rows) < 2 else (picture,)
    return Section("shift", "Shift gap", text, tuple(found.claims()), (table,), pictures=pictures)


@section("margins")
def attention_margins(look: Look) -> Section:
    """How clearly queries prefer their best key."""
    found = margins(look.anatomy, look.trace)
    by_layer: dict[int, list[HeadMargin]] = {}
    for head in found.heads:
        by_layer.setdefault(head.layer, []).append(head)
    columns = ("block", "least", "median", "ties", "weight on best")
    rows = tuple((layer, *_summary(heads)) for layer, heads in by_layer.items())
    every = tuple((h.layer, h.head, h.queries, h.least, h.median, h.ties, h.weight) for h in found.heads)
    text = (
        "The margin of a query is its largest attention logit minus its second largest, over the keys it sees. Two "
        f"that differ by no more than rounding ({found.tolerance:.0e} of their size) tie and have none.",
    )
    heat = tuple({"x": h.head, "y": h.layer, "value": h.median} for h in found.heads if h.median is not None)
    words = f"The median margin of each of {len(found.heads)} heads."
    return Section(
        "margins",
        "Margins of attention",
        text,
        tuple(found.claims()),
        (Table("Margins by block", columns, rows, "least over its heads; median of its heads' medians; means"),),
        (Table("Margins by head", ("block", "head", "queries", *columns[1:]), every),),
        (Picture("heat", "Median margin by block and head", words, "head", "block", heat),) if heat else (),
    )


def _summary(heads: list[HeadMargin]) -> tuple[float | None, float | None, float, float]:
    least = [head.least for head in heads if head.least is not None]
    middle = [head.median for head in heads if head.median is not None]
    ties = sum(head.ties for head in heads) / len(heads)
    return (
        min(least) if least else None,
        median(middle) if middle else None,
        ties,
        sum(head.weight for head in heads) / len(heads),
    )
