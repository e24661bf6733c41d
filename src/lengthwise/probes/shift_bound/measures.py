"""Items as measures: how often each token occurs before a place that is asked for, and the constant of the margin in W1
of these measures, for a Transformer of one block without positions.

Of such a model the order of the tokens does not matter and their number does not either, so items of any two lengths
have a distance. Statement 18 of docs/explanation/bounds.md has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lengthwise.bounds.lipschitz.attention import behind_norm
from lengthwise.bounds.lipschitz.bound import ARITHMETIC, Region
from lengthwise.bounds.lipschitz.layers import norm_bound, plain_mlp_bound
from lengthwise.bounds.lipschitz.mixing import mixed, mixing_constant
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.models.forward import apply_attention, apply_mlp, apply_norm
from lengthwise.models.parts import Anatomy, NormPart
from lengthwise.probes.lipschitz.parts import array, attention_problem
from lengthwise.probes.shift_bound.grounds import BoundGround, steepest_difference
from lengthwise.probes.shift_bound.samples import ShiftSide
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.rounding import SMALLEST, Upper, applied, distances_above, distances_below, gamma, lengths, total
from lengthwise.seeds import Floats
from lengthwise.transport.problem import MatrixCost, TransportProblem
from lengthwise.transport.solving import solve

explain(
    {
        "shift_bound.as_computed": "what attention reads of each token, its logits and its values are as computed in "
        "float64, and so are the distances of tokens",
        "shift_bound.mixing": "Lipschitz constant of the margin in W1 of the tokens",
        "shift_bound.mixing_seen": "steepest margin found in W1 of the tokens, in {attempts} attempts",
    }
)

_PAIRS = 20_000  # pairs of different measures whose distance is computed
_ATTEMPTS = 2_000  # pairs of mixtures that an attack looks at


@dataclass(frozen=True, eq=False)
class AskedQuery:
    """What is asked of one query token: the shares [n, K] of the tokens that it sees, and the labels that occur."""

    query: int
    shares: Floats
    labels: tuple[int, ...]


class MeasureModel:
    """A Transformer of one block, read as a function of a query token and of the shares of the tokens it sees."""

    def __init__(self, anatomy: Anatomy, tokens: Sequence[int], longest: int) -> None:
        _check(anatomy, longest)
        self.anatomy, self.block, self.tokens = anatomy, anatomy.blocks[0], list(tokens)
        self.embedded = anatomy.embed[torch.tensor(self.tokens)]  # [K, W]
        if anatomy.norm_embed is not None:
            self.embedded = apply_norm(anatomy.norm_embed, self.embedded)
        norm = self.block.norm_attention
        self.read = self.embedded if norm is None else apply_norm(norm, self.embedded)
        self.distances = distances_above(array(self.read), array(self.read))
        self.least = distances_below(array(self.read), array(self.read))

    def heads(self, query: int) -> list[tuple[Floats, Floats]]:
        """For each head the logits [K] that the query gives to the tokens, and what it takes from each, [K, W]."""
        part = self.block.attention
        x = torch.cat([self.read, self.read[self.tokens.index(query)][None]])[None]
        with torch.no_grad():
            logits = apply_attention(part, x, self.anatomy.places(x.shape[1]))[1][0, :, -1, :-1]  # [H, K]
            values = torch.einsum("hdw,kw->hkd", part.wv, self.read)
            values = values if part.bv is None else values + part.bv[:, None]
            taken = torch.einsum("hwd,hkd->hkw", part.wo, values)
        return [(array(a), array(v)) for a, v in zip(logits, taken, strict=True)]

    def after_attention(self, query: int, shares: Floats) -> Floats:
        """The residual stream of the query [n, W] where the tokens have these shares."""
        return self._start(query) + sum(mixed(*head, shares)[0] for head in self.heads(query))

    def _start(self, query: int) -> Floats:
        """The query itself and the bias of attention, [W]."""
        out, own = self.block.attention.bo, array(self.embedded[self.tokens.index(query)])
        return own if out is None else own + array(out)

    def margins(self, query: int, shares: Floats, label: int) -> Floats:
        """The lead of a label at the query, [n]."""
        with torch.no_grad():
            x = self.after_attention(query, shares)
            x = torch.from_numpy(x + self._added(x))
            final = self.anatomy.norm_final
            scores = (x if final is None else apply_norm(final, x)) @ self.anatomy.head.T  # pyright: ignore
            own = scores[:, label].clone()
            scores[:, label] = -torch.inf
            return (own - scores.max(dim=1).values).numpy()

    def _added(self, x: Floats) -> Floats:
        """What the MLP adds to the residual stream [n, W]."""
        norm = self.block.norm_mlp
        with torch.no_grad():
            stream = torch.from_numpy(x)
            return array(apply_mlp(self.block.mlp, stream if norm is None else apply_norm(norm, stream)))

    def constant(self, asked: AskedQuery) -> tuple[float, dict[str, float]]:
        """The constant of the margin at this query on all mixtures of the given shares, and its factors."""
        heads = self.heads(asked.query)
        mixing = total(mixing_constant(*head, asked.shares, self.least) for head in heads)
        sums = [self._start(asked.query)[None], *(mixed(*head, asked.shares)[0] for head in heads)]
        norm, read = _norm_constant(self.block.norm_mlp, sums, 0.0)
        mlp = self.block.mlp
        weight, bias, centred = _weights_of(self.block.norm_mlp)
        w_in = behind_norm(array(mlp.w_in), weight, centred)
        b_in = None if mlp.b_in is None else array(mlp.b_in)
        if bias is not None:
            b_in = applied(array(mlp.w_in), bias, b_in)
        b_out = None if mlp.b_out is None else array(mlp.b_out)
        added = plain_mlp_bound(w_in, array(mlp.w_out), mlp.activation, read, b_in, b_out)
        # What the MLP adds is what it adds in the middle, and no more than its constant times the way from there.
        middle = [corners.mean(axis=0) for corners in sums]
        away = total(lengths(corners - at).largest() for corners, at in zip(sums, middle, strict=True))
        there = self._added(np.sum(middle, axis=0)[None])
        steep = Upper(norm) * added.constant
        last, _ = _norm_constant(self.anatomy.norm_final, [*sums, there], float(steep * away))
        row = steepest_difference(self.anatomy, asked.labels)[0]
        parts = {"mixing": float(mixing), "norm": norm, "mlp": added.constant, "final_norm": last, "head": row}
        return float((steep + 1.0) * mixing * last * row), parts


def _norm_constant(norm: NormPart | None, sums: Sequence[Floats], moved: float) -> tuple[float, Region]:
    """The constant of a norm without its weights, and where its outputs lie, on the set of all sums of one point of
    each hull; `sums` has the corners of the hulls, each point is moved by at most `moved`.

    A hull holds points with less spread than its corners. But along any direction no point of it has less than the
    corner with the least, and a point is at least as long as what it has along a unit vector; the mean is taken."""
    width = sums[0].shape[1]
    lost = total(lengths(corners).largest() for corners in sums) * gamma(width + 10)  # of what is computed below
    radius = float(total(lengths(corners).largest() for corners in sums) + moved + lost)
    if norm is None:
        return 1.0, Region(radius)
    middle = np.sum([corners.mean(axis=0) for corners in sums], axis=0)
    middle = middle - middle.mean() if norm.kind == "layer" else middle  # so the mean of a point does not count
    unit = middle / max(float(lengths(middle)), 1e-300)  # a little shorter than 1
    along = sum(float((corners @ unit).min()) for corners in sums) - float(lost) - moved
    least = max(0.0, along / math.sqrt(width)) * (1.0 - gamma(8 + 2 * len(sums)))
    bound = norm_bound(norm.kind, width, norm.eps, Region(radius, least, least))
    return bound.constant, Region(bound.reach)


def _weights_of(norm: NormPart | None) -> tuple[Floats | None, Floats | None, bool]:
    if norm is None:
        return None, None, False
    return array(norm.weight), None if norm.bias is None else array(norm.bias), norm.kind == "layer"


def _check(anatomy: Anatomy, longest: int) -> None:
    """Refuse a model that is not a function of measures, or of which no constant is known."""
    block, part = anatomy.blocks[0], anatomy.blocks[0].attention
    problem = attention_problem(part)
    sharpness = part.law.sharpness(torch.arange(longest))
    uneven = isinstance(sharpness, Tensor) and bool((sharpness != sharpness[0]).any())
    placed = (part.rotary, part.bias, part.scores, anatomy.table) != (None,) * 4
    reasons = (
        ("it has more than one block", len(anatomy.blocks) > 1),
        ("it has positions", placed),
        ("its attention has a window or becomes sharper with length", part.law.window() is not None or uneven),
        ("its block is not pre-norm", block.order != "pre"),
        ("its MLP is gated", block.mlp.w_gate is not None),
        (problem, bool(problem)),
    )
    why = next((reason for reason, met in reasons if met), "")
    if why:
        raise UsageError(
            f"the metric measure is for Transformers of one block without positions, and {anatomy.name} is not "
            f"one: {why}"
        )
    if anatomy.embed.dtype != torch.float64:
        raise UsageError("certificates are computed from float64 weights, and those of so large a model are float32")


# --- the ground -----------------------------------------------------------------------------------------------------


View = list[tuple[int, tuple[float, ...]]]  # of an item: by place the query token, and the shares of what it sees


def views_of(
    anatomy: Anatomy, source: ShiftSide, target: ShiftSide
) -> tuple[MeasureModel, list[AskedQuery], list[View]]:
    """The model as a function of measures, what is asked of each query token, and the view of every item."""
    items = [*source.items, *target.items]
    longest = max(len(item.tokens) for item in items)
    model = MeasureModel(anatomy, sorted({token for item in items for token in item.tokens}), longest)
    causal = model.block.attention.causal
    number = {token: place for place, token in enumerate(model.tokens)}

    def seen(tokens: tuple[int, ...], place: int) -> tuple[float, ...]:
        visible = [number[token] for token in (tokens[: place + 1] if causal else tokens)]
        return tuple((np.bincount(visible, minlength=len(number)) / len(visible)).tolist())

    views = [[(item.tokens[place], seen(item.tokens, place)) for place in item.places] for item in items]
    found: dict[int, tuple[dict[tuple[float, ...], None], set[int]]] = {}
    for item, view in zip(items, views, strict=True):
        for (query, shares), label in zip(view, item.labels, strict=True):
            kept = found.setdefault(query, ({}, set()))
            kept[0][shares] = None
            kept[1].add(label)
    asked = [AskedQuery(query, np.array([*shares]), tuple(sorted(labels))) for query, (shares, labels) in found.items()]
    return model, asked, views


def measure_ground(anatomy: Anatomy, source: ShiftSide, target: ShiftSide, seed: int) -> BoundGround:
    """The distance of two items is the largest W1 over the places that are asked for; infinite where other query tokens
    are asked. The constant holds for all mixtures of the given measures."""
    model, all_asked, views = views_of(anatomy, source, target)
    constants = {asked.query: model.constant(asked) for asked in all_asked}
    worst = max(constants, key=lambda query: constants[query][0])
    measures = sum(len(asked.shares) for asked in all_asked)
    where = Assumption("lipschitz.valid", "checked", {"where": f"all mixtures of {measures} measures of tokens"})
    certified = Claim(
        "shift_bound.mixing", constants[worst][0], "at most, in W1 of the tokens", "certified",
        assumptions=(where, *ARITHMETIC, Assumption("shift_bound.as_computed")),
        reference=Reference("docs/explanation/bounds.md", "statement 18"),
        evidence=constants[worst][1],
    )  # fmt: skip
    steepest = attack_measures(model, all_asked, _ATTEMPTS, seed)
    attacked = Claim(
        "shift_bound.mixing_seen", steepest, "at least, in W1 of the tokens", "measured",
        evidence={"attempts": _ATTEMPTS},
    )  # fmt: skip
    distances = _item_distances(model, views[: len(source.items)], views[len(source.items) :])
    return BoundGround("measure", distances, certified, attacked)


def _item_distances(model: MeasureModel, first: list[View], second: list[View]) -> Floats:
    """The largest W1 over the places of two items, each pair of different measures computed once."""
    known: dict[tuple[tuple[float, ...], tuple[float, ...]], float] = {}
    ones, twos = (list(dict.fromkeys(tuple(view) for view in views)) for views in (first, second))
    if len(ones) * len(twos) > _PAIRS:
        raise UsageError(
            f"{len(ones):,} and {len(twos):,} different sets of tokens have too many pairs to compare; "
            "take fewer items, or the metric states"
        )
    table = np.full((len(ones), len(twos)), math.inf)
    for i, one in enumerate(ones):
        for j, two in enumerate(twos):
            if [query for query, _ in one] == [query for query, _ in two]:
                for (_, p), (_, q) in zip(one, two, strict=True):
                    if (p, q) not in known:
                        known[p, q] = token_distance(model.distances, np.array(p), np.array(q))
                table[i, j] = max(known[p, q] for (_, p), (_, q) in zip(one, two, strict=True))
    at = [{view: number for number, view in enumerate(views)} for views in (ones, twos)]
    return table[np.ix_([at[0][tuple(v)] for v in first], [at[1][tuple(v)] for v in second])]


def token_distance(distances: Floats, p: Floats, q: Floats) -> float:
    """W1 of two measures on the tokens, from above. What both have stays where it is, which costs nothing less."""
    if (p == q).all():
        return 0.0
    left, right = np.maximum(p - q, 0.0), np.maximum(q - p, 0.0)
    rows, columns = np.flatnonzero(left > 1e-15), np.flatnonzero(right > 1e-15)
    # Shares are numbers that sum to 1 up to rounding; what rounding adds or hides is moved the longest way.
    hidden = Upper(float(distances.max())) * gamma(18 * len(p) + 16)
    if not len(rows) or not len(columns):
        return float(hidden)
    mass = Upper(float(left.sum()))
    cost = distances[np.ix_(rows, columns)]
    if len(rows) == 1 or len(columns) == 1:  # there is one way to move it
        shares = right[columns] if len(rows) == 1 else left[rows]
        return float(Upper(float(shares @ cost.ravel())) + len(shares) * SMALLEST + hidden)
    weights = left[rows] / left[rows].sum(), right[columns] / right[columns].sum()
    return float(mass * solve(TransportProblem(MatrixCost(cost), *weights)).certificate.upper + hidden)


def attack_measures(model: MeasureModel, all_asked: Sequence[AskedQuery], attempts: int, seed: int) -> float:
    """The steepest change of a margin between two mixtures of the given measures that was found: pairs of given ones,
    of random mixtures, and of mixtures that are close to each other. Each query has its share of the attempts."""
    rng, best = np.random.default_rng(seed), 0.0
    for asked in all_asked:
        for label in asked.labels:
            count = max(3, attempts // sum(len(each.labels) for each in all_asked))
            n, third = len(asked.shares), count // 3
            given = asked.shares[rng.integers(n, size=(2, third))]
            few = rng.dirichlet(np.full(min(n, 6), 0.5), size=(2, count - 2 * third))
            picks = rng.integers(n, size=(2, count - 2 * third, min(n, 6)))
            mixtures = np.einsum("abk,abkc->abc", few, asked.shares[picks])
            base, towards = asked.shares[rng.integers(n, size=(2, third))]
            close = np.stack([base, base + rng.uniform(0.001, 0.2, size=(third, 1)) * (towards - base)])
            p, q = (np.concatenate([given[side], mixtures[side], close[side]]) for side in (0, 1))
            gaps = np.abs(model.margins(asked.query, p, label) - model.margins(asked.query, q, label))
            for gap, one, two in sorted(zip(gaps, p, q, strict=True), key=lambda row: -row[0]):
                # Moving mass costs at least the least distance of two tokens: no need to solve where that is too much.
                moved = 0.5 * float(np.abs(one - two).sum())
                floor = moved * float(model.distances[model.distances > 0].min())
                if floor > 1e-12 and gap / floor > best:
                    best = max(best, gap / token_distance(model.distances, one, two))
    return float(best)
