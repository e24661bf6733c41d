"""The bound under a shift: constants that hold for every pair, a bound that holds, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from lengthwise import limits
from lengthwise.errors import OutOfReach, UsageError
from lengthwise.models.architecture import Architecture, Interface
from lengthwise.models.attention import attentions
from lengthwise.models.attention.softmax import Softmax
from lengthwise.models.transformer import Transformer
from lengthwise.positions import make_position
from lengthwise.probes.probe import Context, ask, probes
from lengthwise.probes.shift_bound import ShiftBoundProbe
from lengthwise.probes.shift_bound.grounds import constant_of, sequence_grounds, states_ground
from lengthwise.probes.shift_bound.measures import measure_ground, token_distance, views_of
from lengthwise.probes.shift_bound.samples import drawn_side, is_file, one_place
from lengthwise.records import Record
from lengthwise.rounding import SMALLEST
from lengthwise.subjects.run import OwnSubject
from lengthwise.tasks import tasks
from lengthwise.transport.problem import MatrixCost, TransportProblem
from lengthwise.transport.solving import solve

TASK = tasks.make("binary_majority")


def subject(position="none", scale=0.3, depth=1, causal=True, attention="softmax"):
    """A model with weights of some size that was trained on nothing."""
    architecture = Architecture(depth, 16, 2, 2, causal, attentions.make(attention), make_position(position))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = Transformer(architecture, Interface(len(TASK.vocabulary), len(TASK.vocabulary), 60, 20)).double()
        for parameter in model.parameters():
            parameter.data += scale * torch.randn_like(parameter)
    return OwnSubject("small", model.eval())


def sides(model, places=("6", "6"), items=24):
    return [
        drawn_side(model, Context(TASK, seed=1), where, items, role)
        for where, role in zip(places, ("source", "target"), strict=True)
    ]


def steepest_pair(ground, source, target):
    """The largest change of a margin over a distance, between items with the same labels."""
    gaps = np.abs(source.margins[:, None] - target.margins[None])
    same = np.array([[a.labels == b.labels for b in target.items] for a in source.items])
    known = same & np.isfinite(ground.distances) & (ground.distances > 0)
    assert known.any()
    return float((gaps[known] / ground.distances[known]).max())


def test_a_size_is_no_file_whatever_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("40", "5-20", "lines", "data.jsonl"):
        (tmp_path / name).write_text("{}")
    found = [name for name in ("40", "5-20", "lines", "data.jsonl", "depth") if is_file(name)]
    assert found == ["lines", "data.jsonl"]


@pytest.mark.parametrize("position", ["learned", "rope"])
def test_margins_change_by_less_than_the_certified_constant(position):
    model = subject(position)
    source, target = sides(model)
    for ground in sequence_grounds(model.capability("anatomy"), source, target, 0):
        assert steepest_pair(ground, source, target) <= constant_of(ground.certified) * (1 + 1e-9)
        assert constant_of(ground.attacked) <= constant_of(ground.certified) * (1 + 1e-9)
    one, two = (one_place(side, 0, role) for side, role in ((source, "source"), (target, "target")))
    ground = states_ground(model.capability("anatomy"), one, two)
    assert steepest_pair(ground, one, two) <= constant_of(ground.certified) * (1 + 1e-9)
    assert constant_of(ground.attacked) <= constant_of(ground.certified)


def test_items_that_no_constant_compares_are_infinitely_far_apart():
    model = subject()
    source, target = sides(model, ("6", "8"))
    assert all(np.isinf(g.distances).all() for g in sequence_grounds(model.capability("anatomy"), source, target, 0))
    found = ask(ShiftBoundProbe("8", "6", "sequence", items=40), model, Context(TASK))
    assert found.claim("shift_bound.certified").status == "vacuous"
    assert not any(claim.key == "shift_bound.w1" for claim in found.claims)


def test_the_record_has_every_term_and_reads_back():
    found = ask(ShiftBoundProbe("8", "6", items=40), subject(), Context(TASK))
    claim = found.claim("shift_bound.certified")
    terms = claim.evidence["terms"]
    assert list(terms) == ["source_risk", "shift", "labels", "sampling_target"]
    assert claim.value == pytest.approx(math.fsum(terms.values()))
    assert claim.kind == "certified" and found.claim("shift_bound.attacked").kind == "heuristic"
    cost = found.claim("shift_bound.cost")
    assert cost.kind == "certified" and cost.value == pytest.approx(terms["shift"] + terms["labels"], abs=1e-6)
    w1 = found.claim("shift_bound.w1")
    assert w1.kind == "certified" and w1.evidence["gap"] <= 1e-7 * max(1.0, w1.value)
    measured = [found.claim(f"shift_bound.{name}_error").value for name in ("target", "fresh")]
    assert measured[0] <= claim.value  # between the samples it is certain, whatever was drawn
    rows = found.table("shift_bound.terms").records()
    assert rows[0]["bound"] <= rows[2]["bound"] + 1e-9  # capped, product
    assert {row["sum"] for row in found.figures[0].data["rows"]} and len(found.figures) == 1
    assert Record.from_plain(found.plain()).claim("shift_bound.certified").value == pytest.approx(claim.value)


def test_labels_of_the_target_are_left_alone_with_a_separation():
    model, asked = subject(), ShiftBoundProbe("6", "6", "sequence", items=40, separation=0.1)
    claim = ask(asked, model, Context(TASK)).claim("shift_bound.certified")
    assert claim.evidence["terms"]["labels"] == 0
    assert "shifted.unlabelled" in {assumption.key for assumption in claim.assumptions}


def test_a_separation_that_the_samples_refute_is_refused():
    with pytest.raises(UsageError, match=r"only .* apart"):
        ask(ShiftBoundProbe("6", "6", items=40, separation=1000.0), subject(), Context(TASK))


def test_without_an_attack_no_bound_is_said_to_come_from_one():
    found = ask(ShiftBoundProbe("8", "6", "sequence", items=40), subject(), Context(TASK))  # of two lengths
    assert "shift_bound.attacked" not in {claim.key for claim in found.claims}
    assert [row["constant"] for row in found.table("shift_bound.terms").records()] == ["certified"]


@pytest.mark.parametrize(
    ("settings", "context"),
    [
        ({"target": ""}, Context(TASK)),
        ({"target": "depth 9"}, Context(TASK, train_size=6)),
        ({"target": "8"}, Context(TASK)),  # its training is not known, and the source is training
        ({"target": "8"}, Context()),
        ({"target": "8", "metric": "edit"}, Context(TASK)),
        ({"target": "8", "items": 1}, Context(TASK)),
    ],
)
def test_what_cannot_be_asked_is_refused(settings, context):
    with pytest.raises(UsageError):
        ask(ShiftBoundProbe(**settings), subject(), context)


def test_samples_whose_pairs_do_not_fit_into_memory_are_refused_before_they_are_drawn(monkeypatch):
    with pytest.raises(OutOfReach, match="memory"):
        ask(ShiftBoundProbe("8", "6", items=100_000_000), subject(), Context(TASK))
    monkeypatch.setattr(limits, "machine_memory", lambda: 40_000)
    with pytest.raises(OutOfReach):
        ask(ShiftBoundProbe("8", "6", items=40), subject(), Context(TASK))
    with limits.lifted():
        assert ask(ShiftBoundProbe("8", "6", items=40), subject(), Context(TASK)).claims


def test_levels_of_a_ladder_are_taken():
    found = ask(ShiftBoundProbe("length 13", items=40), subject(), Context(TASK, train_size=6))
    assert found.data["target"].endswith("length 13")


def test_no_constant_leaves_total_variation():
    """Hardmax attention jumps, so no constant exists; what is left is how many inputs both samples share."""
    model = subject(attention="hardmax")
    found = ask(ShiftBoundProbe("4", "4", "sequence", items=40), model, Context(TASK))
    row = found.table("shift_bound.terms").records()[0]
    assert row["lipschitz"] is None and row["shift"] + row["labels"] < 0.6
    assert found.claim("shift_bound.target_error").value <= row["bound"]


# --- token frequencies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("causal", "scale"), [(True, 0.3), (True, 1.0)])
def test_items_of_other_lengths_have_a_distance_that_the_constant_is_about(causal, scale):
    model = subject(scale=scale, causal=causal)
    source, target = sides(model, ("6", "9"))
    ground = measure_ground(model.capability("anatomy"), source, target, 0)
    assert np.isfinite(ground.distances).any()
    assert steepest_pair(ground, source, target) <= constant_of(ground.certified) * (1 + 1e-9)
    assert 0 < constant_of(ground.attacked) <= constant_of(ground.certified) * (1 + 1e-9)


def test_a_model_of_frequencies_is_the_model():
    """The margins computed from shares are those of the forward pass."""
    model = subject()
    source, target = sides(model, ("6", "9"))
    measures, _, views = views_of(model.capability("anatomy"), source, target)
    for item, view in zip((*source.items, *target.items), views, strict=True):
        for (query, shares), label, margin in zip(view, item.labels, item.margins, strict=True):
            assert measures.margins(query, np.array([shares]), label)[0] == pytest.approx(margin, abs=1e-9)


@pytest.mark.parametrize("wrong", [{"position": "learned"}, {"position": "rope"}, {"position": "alibi"}, {"depth": 2}])
def test_models_that_are_no_functions_of_frequencies_are_refused(wrong):
    model = subject(**wrong)
    with pytest.raises(UsageError):
        measure_ground(model.capability("anatomy"), *sides(model), 0)


def test_attention_that_becomes_sharper_anywhere_in_the_items_is_refused(monkeypatch):
    monkeypatch.setattr(Softmax, "sharpness", lambda _, index: 1.0 + (index >= 70).double())
    model = subject()
    measure_ground(model.capability("anatomy"), *sides(model, ("20", "30"), 4), 0)
    with pytest.raises(UsageError, match="sharper"):
        measure_ground(model.capability("anatomy"), *sides(model, ("20", "90"), 4), 0)


def test_moving_what_two_measures_share_gains_nothing():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(4, 2))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    for _ in range(20):
        p, q = rng.dirichlet(np.ones(4), size=2)
        whole = solve(TransportProblem(MatrixCost(distances), p, q)).certificate.primal
        assert token_distance(distances, p, q) == pytest.approx(whole, rel=1e-6)


def test_tiny_distances_between_tokens_are_not_lost():
    """Products of shares and subnormal distances underflow; the distance of two measures of three tokens, exactly."""
    draw = np.random.default_rng(0)
    for steps in range(1, 12):
        distances = steps * SMALLEST * (1.0 - np.eye(3))
        for first, rest in draw.random((50, 2)):
            second = rest * (1 - first)
            p, q = np.array([first, second, 1 - first - second]), np.array([0.0, second, 1 - second])
            moved = sum(
                max(Fraction(a) - Fraction(b), Fraction(0)) for a, b in zip(p.tolist(), q.tolist(), strict=True)
            )
            assert Fraction(token_distance(distances, p, q)) >= moved * steps * Fraction(SMALLEST)


def test_many_tiny_shares_are_not_lost():
    """Each of them is below what is moved; together they are not."""
    rest = 1.0 - 99 * 9.9e-16
    p, q = np.array([*[9.9e-16] * 99, 0.0, rest]), np.array([*[0.0] * 99, 99 * 9.9e-16, rest])
    assert Fraction(token_distance(1.0 - np.eye(101), p, q)) >= 99 * Fraction(9.9e-16)


def test_a_spec_names_it():
    probe = probes.make("shift_bound:target=40,metric=measure,items=50")
    assert isinstance(probe, ShiftBoundProbe) and (probe.target, probe.source, probe.items) == ("40", "training", 50)
