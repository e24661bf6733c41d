"""Risk bounds: no violation where the true risk is known, each constant is needed, and guesses are called guesses."""

import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from lengthwise.bounds.kantorovich import agnostic_bound, margin_bound, realizable_bound
from lengthwise.bounds.sampling import Sampling, distance_deviation, risk_deviation
from lengthwise.errors import UsageError
from lengthwise.records import Claim, Interval

DRAWS = 1000
POINTS = 6


class Network:
    """x ↦ B relu(A x + a): Lipschitz with ‖B‖ ‖A‖; linear with the constant ‖A‖ where `straight`."""

    def __init__(self, rng, outputs, straight=False):
        self.first, self.shift = rng.normal(size=(4, 2)), rng.normal(size=4)
        self.second = rng.normal(size=(outputs, 4))
        self.straight = straight
        product = self.second @ self.first
        self.lipschitz = (
            np.linalg.norm(product, 2) if straight else np.linalg.norm(self.second, 2) * np.linalg.norm(self.first, 2)
        )

    def __call__(self, x):
        inner = x @ self.first.T + self.shift
        return (inner if self.straight else np.maximum(inner, 0)) @ self.second.T


def two_clouds(rng):
    """Two sets of equally likely points and an optimal coupling of them: (p, q, pairs, W1)."""
    p = rng.normal(size=(POINTS, 2))
    q = p + rng.normal(size=2) * rng.uniform(0, 1) + rng.normal(size=(POINTS, 2)) * rng.uniform(0, 0.5)
    costs = np.linalg.norm(p[:, None] - q[None], axis=2)
    rows, columns = linear_sum_assignment(costs)
    return p, q, columns, float(costs[rows, columns].mean())


def test_realizable_holds_in_every_draw():
    rng, closest = np.random.default_rng(0), math.inf
    for draw in range(DRAWS):
        p, q, _, distance = two_clouds(rng)
        model, target = Network(rng, 1, draw % 2 == 0), Network(rng, 1, draw % 2 == 0)
        off = 0.1 * rng.uniform(-1, 1, size=(2, POINTS, 1)) * (draw % 3 == 0)  # labels that are not quite Lipschitz
        if draw % 5 == 0:  # the worst: the model moves against the target, along the shift
            model.first, model.second, model.straight = -target.first, target.second, True
            target.straight = True
            model.lipschitz = target.lipschitz = np.linalg.norm(target.second @ target.first, 2)
            q = p + (target.second @ target.first) / model.lipschitz * 0.5
            distance = 0.5
        risks = [float(np.abs(model(x) - target(x) - o).mean()) for x, o in zip((p, q), off, strict=True)]
        bound = realizable_bound(
            risks[0],
            distance,
            model_lipschitz=float(model.lipschitz),
            target_lipschitz=float(target.lipschitz),
            approximation=float(np.abs(off).max()),
        )
        assert risks[1] <= bound.total + 1e-9
        closest = min(closest, bound.total / max(risks[1], 1e-9))
    assert closest < 1.05, f"no draw comes near the bound: {closest}"


def test_agnostic_holds_in_every_draw():
    rng, closest = np.random.default_rng(1), math.inf
    for _ in range(DRAWS):
        p, q, _, distance = two_clouds(rng)
        model, other = Network(rng, 1), Network(rng, 1)
        noise = rng.uniform(0, 1)  # labels are anything; the other hypothesis is near them, more or less
        labels = [other(x) + noise * rng.normal(size=(POINTS, 1)) for x in (p, q)]
        risk = [float(np.abs(model(x) - y).mean()) for x, y in zip((p, q), labels, strict=True)]
        joint = sum(float(np.abs(other(x) - y).mean()) for x, y in zip((p, q), labels, strict=True))
        constant = float(max(model.lipschitz, other.lipschitz))
        bound = agnostic_bound(risk[0], distance, class_lipschitz=constant, joint_risk=joint)
        assert risk[1] <= bound.total + 1e-9
        closest = min(closest, bound.total / max(risk[1], 1e-9))
    assert closest < 2


def margins(logits, labels):
    rows = np.arange(len(logits))
    own = logits[rows, labels]
    others = logits.copy()
    others[rows, labels] = -np.inf
    return own - others.max(axis=1)


@pytest.mark.parametrize("how", ["disagreement", "separation"])
def test_margin_bound_holds_in_every_draw(how):
    rng, told = np.random.default_rng(2), 0
    for draw in range(DRAWS):
        p, q, pairs, distance = two_clouds(rng)
        model = Network(rng, 3, draw % 2 == 0)
        labels = [model(x).argmax(axis=1) for x in (p, q)]
        for each in labels:  # some labels are not what the model says
            wrong = rng.random(POINTS) < 0.2 * (draw % 4)
            each[wrong] = rng.integers(0, 3, wrong.sum())
        width = float(10 ** rng.uniform(-1, 1))
        source = float(np.mean(np.clip(1 - margins(model(p), labels[0]) / width, 0, 1)))
        error = float(np.mean(margins(model(q), labels[1]) <= 0))
        settings = {"model_lipschitz": float(model.lipschitz), "margin": width}
        if how == "disagreement":
            moved = float(np.mean(labels[0] != labels[1][pairs]))
            bound = margin_bound(source, distance, **settings, label_disagreement=moved)
        else:
            apart = np.linalg.norm(p[:, None] - q[None], axis=2)[labels[0][:, None] != labels[1][None]]
            bound = margin_bound(
                source, distance, **settings, label_separation=float(apart.min()) if apart.size else 1e9
            )
        assert error <= bound.total + 1e-9
        told += bound.status == "holds"
    assert told > 10, "all bounds are vacuous, so nothing was tested"


def test_sampled_bounds_hold_in_every_draw():
    """The source is known from a sample only: the risk and the distance get their sampling terms."""
    rng = np.random.default_rng(3)
    support = np.linspace(0, 1, 5)
    for _ in range(DRAWS):
        p, q = rng.dirichlet(np.ones(5), size=2)
        slope, level = rng.uniform(-1, 1), rng.uniform(0, 1)
        loss = np.clip(np.abs(slope * support - level), 0, 1)
        items, delta = int(rng.integers(50, 2000)), 1e-3
        drawn = [rng.multinomial(items, each) / items for each in (p, q)]
        w1 = float(np.abs(np.cumsum(drawn[0] - drawn[1]))[:-1].sum() * 0.25)
        bound = realizable_bound(
            float(drawn[0] @ loss),
            w1,
            model_lipschitz=abs(slope),
            target_lipschitz=0.0,
            loss_range=1.0,
            sampling=Sampling(risk_deviation(items, 1.0, delta / 3), 2 * distance_deviation(items, 1.0, 5, delta / 3)),
        )
        assert q @ loss <= bound.total


def test_sampling_terms():
    """Against simulation, and neither is more than a few times too careful."""
    rng = np.random.default_rng(4)
    items, cells = 200, 10
    support, truth = np.linspace(0, 1, cells), np.full(cells, 1 / cells)
    drawn = rng.multinomial(items, truth, size=2000) / items
    distances = np.abs(np.cumsum(drawn - truth, axis=1))[:, :-1].sum(axis=1) / (cells - 1)
    term = distance_deviation(items, 1.0, cells, 0.05)
    assert np.mean(distances > term) <= 0.05 and term < 10 * np.quantile(distances, 0.95)
    short = truth @ support - drawn @ support
    term = risk_deviation(items, 1.0, 0.05)
    assert np.mean(short > term) <= 0.05 and term < 4 * np.quantile(short, 0.95)
    assert distance_deviation(items, 1.0, cells, 0.05, cell_width=0.1) == pytest.approx(
        distance_deviation(items, 1.0, cells, 0.05) + 0.1
    )


def test_the_root_of_two_is_needed():
    """Logits (x, -x) / √2 are 1-Lipschitz and their margin is √2 x: the bound is attained, and less would be false."""
    width = 1.0
    source, target = width / math.sqrt(2), 0.0
    bound = margin_bound(0.0, source - target, model_lipschitz=1.0, margin=width, label_disagreement=0.0)
    logits = np.array([[target, -target]]) / math.sqrt(2)
    assert math.sqrt(2) * source >= width * (1 - 1e-12)  # the ramp is 0 there
    assert float(margins(logits, np.array([0]))[0] <= 0) == pytest.approx(bound.total)


def test_labels_must_be_spoken_of():
    """The same inputs with other labels: W1 of the inputs is 0, and the error all there is."""
    with pytest.raises(UsageError, match="what becomes of labels"):
        margin_bound(0.0, 0.0, model_lipschitz=1.0, margin=1.0)
    with pytest.raises(UsageError, match="what becomes of labels"):
        margin_bound(0.0, 0.0, model_lipschitz=1.0, margin=1.0, label_disagreement=0.0, label_separation=1.0)
    assert margin_bound(0.0, 0.0, model_lipschitz=1.0, margin=1.0, label_disagreement=1.0).status == "vacuous"


def claim_of(value, kind="certified", status="holds", interval=None):
    return Claim("a constant", value, "", kind, status, interval)


def test_what_numbers_rest_on():
    def bound(lipschitz, distance=0.1):
        return realizable_bound(0.1, distance, model_lipschitz=lipschitz, target_lipschitz=1.0, loss_range=1.0).claim()

    plain, certified = bound(2.0), bound(claim_of(2.0))
    assert (
        plain.kind == "proved"
        and certified.kind == "certified"
        and plain.value == certified.value == pytest.approx(0.4)
    )
    assert [a.check for a in certified.assumptions][:3] == ["checked", "assumed", "assumed"]
    found = bound(claim_of(2.0, "measured"))
    assert found.kind == "heuristic" and "risk.uncertain" in [a.key for a in found.assumptions]
    for none in (claim_of(None, status="refused"), claim_of(None, status="vacuous")):
        refused = bound(none)
        assert refused.status == "refused" and refused.value is None and refused.evidence["missing"]
    sandwich = bound(1.0, claim_of(0.1, "heuristic", interval=Interval(0.0, 0.2, 1.0)))
    assert sandwich.kind == "certified" and sandwich.value == pytest.approx(0.1 + 2 * 0.2)
    vacuous = bound(9.0)
    assert vacuous.status == "vacuous" and vacuous.value == pytest.approx(1.1)
    assert sum(vacuous.evidence["terms"].values()) == pytest.approx(vacuous.value)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"source_ramp": 1.2}, "source risk must lie between"),
        ({"distance": math.inf}, "the distance between source and target must be a finite number"),
        ({"distance": -1.0}, "the distance between source and target must be a finite number"),
        ({"distance": math.nan}, "the distance between source and target must be a finite number"),
        ({"model_lipschitz": -1.0}, "Lipschitz constant of the logits"),
        ({"margin": 0.0}, "margin γ must be above 0"),
        ({"approximation": -0.1}, "approximation and sampling"),
        ({"label_disagreement": None, "label_separation": 0.0}, "label separation must be above 0"),
    ],
)
def test_bad_input(change, message):
    usual = {"source_ramp": 0.1, "distance": 0.1, "model_lipschitz": 1.0, "margin": 1.0, "label_disagreement": 0.0}
    settings = {**usual, **change}
    with pytest.raises(UsageError, match=message):
        margin_bound(settings.pop("source_ramp"), settings.pop("distance"), **settings)


def test_bad_samples():
    for call in (
        lambda: risk_deviation(0, 1.0, 0.1),
        lambda: risk_deviation(10, math.inf, 0.1),
        lambda: risk_deviation(10, 1.0, 0.0),
        lambda: distance_deviation(10, -1.0, 3, 0.1),
        lambda: distance_deviation(10, 1.0, 0, 0.1),
    ):
        with pytest.raises(UsageError):
            call()
