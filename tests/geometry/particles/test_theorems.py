"""The theorem checker: hypotheses on starts with known answers, and searches for counterexamples to its conclusions."""

import json
import math
import tracemalloc

import numpy as np
import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.geometry.particles import starts, theorems
from lengthwise.geometry.particles.comparison import compare
from lengthwise.geometry.particles.integrate import simulate
from lengthwise.geometry.particles.metastable import find_caps
from lengthwise.geometry.particles.system import System
from lengthwise.geometry.particles.theorems import check, facts_of, wendel


def named(claims, name):
    return next(claim for claim in claims if claim.key == name)


def verdict(points, system):
    return check(points, system)[0]


def ring(*degrees: float) -> np.ndarray:
    angles = np.deg2rad(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


@pytest.mark.parametrize(
    ("points", "system", "value", "place"),
    [
        (starts.uniform(9, 3, 1), System("SA", 4.0), True, "theorem 6.1"),
        (starts.uniform(9, 2, 1), System("USA", 4.0), True, "abstract"),
        (starts.uniform(9, 2, 1), System("SA", 0.0), True, "abstract"),
        (starts.hemisphere(9, 3, 1), System("SA", 4.0), True, "lemma on cones"),
        (starts.uniform(5, 8, 1), System("SA", 4.0), True, "lemma on cones"),
        (ring(0, 180), System("SA", 1.0), False, "exceptional"),
        (ring(0, 120, 240), System("SA", 1.0), False, "exceptional"),
        (ring(0, 180, 20, 200), System("SA", 1.0), False, "exceptional"),
        (ring(30, 30, 30), System("SA", 1.0), True, "one already"),
        (starts.uniform(9, 3, 1), System("SA", 4.0, value=-torch.eye(3)), None, "no theorem"),
        (starts.uniform(9, 3, 1), System("SA", 4.0, query=2 * torch.eye(3)), None, "no theorem"),
        (starts.hemisphere(9, 3, 1), System("SA", 4.0, query=2 * torch.eye(3)), True, "lemma on cones"),
        (starts.hemisphere(9, 3, 1), System("SA", 4.0, value=2 * torch.eye(3)), None, "no theorem"),
    ],
)
def test_verdicts(points, system, value, place):
    claim = verdict(points, system)
    assert claim.value is value
    assert claim.status == ("unknown" if value is None else "holds")
    assert place in claim.reference.place


def test_points_in_a_plane_of_space_are_judged_as_on_a_circle():
    flat = np.pad(ring(0, 100, 200, 230), ((0, 0), (0, 1)))
    claims = check(flat, System("SA", 2.0))
    assert named(claims, "particles.one_cluster.sphere").status == "unknown"
    assert named(claims, "particles.one_cluster.circle").value is True


def test_what_was_read_in_an_abstract_alone_is_an_assumption():
    for kind, extra in (("SA", 1), ("USA", 0)):
        claim = named(check(ring(0, 100, 200, 230), System(kind, 2.0)), "particles.one_cluster.circle")  # pyright: ignore
        assumed = [a.key for a in claim.assumptions if a.check == "assumed"]
        assert assumed.count("particles.abstract") == 1 and assumed.count("particles.abstract_sa") == extra
    for claim in check(starts.hemisphere(6, 3, 0), System("SA", 2.0)):  # no section numbers that nobody looked up
        assert claim.reference is not None and "section" not in claim.reference.place


def test_unknown_constants_are_never_assumed_away():
    for beta in (0.0, 1e-9, 3.0, 1e6):
        claims = check(starts.uniform(6, 2, 0), System("SA", beta))
        assert named(claims, "particles.one_cluster.small_beta").status == "unknown"
        assert named(claims, "particles.one_cluster.large_beta").status == "unknown"
        json.dumps([claim.plain() for claim in claims], allow_nan=False)


def test_a_mirror_image_never_gathers_even_when_it_moves():
    points = ring(0, 180, 20, 200)
    path = simulate(System("SA", 1.0), points, [0.0, 5.0])
    assert np.abs(path.points[-1].sum(0)).max() < 1e-6
    claims = check(points, System("SA", 1.0))
    assert claims[0].value is False
    assert named(claims, "particles.exceptional").evidence["antipodal_pairs"] == 2


@pytest.mark.parametrize(("n", "d", "chance"), [(3, 2, 0.75), (4, 2, 0.5), (4, 3, 7 / 8), (5, 9, 1.0), (1, 2, 1.0)])
def test_wendel_by_hand(n, d, chance):
    assert wendel(n, d) == pytest.approx(chance, abs=1e-15)


def test_wendel_by_drawing():
    drawn = starts.uniform(6, 3, 4, (500,)).numpy()
    inside = [check_hemisphere(points) for points in drawn]
    assert abs(np.mean(inside) - wendel(6, 3)) < 4 * math.sqrt(0.25 / 500)


def check_hemisphere(points: np.ndarray) -> bool:
    """In three dimensions: some plane through two of the points has all others on one side, by trying all pairs."""
    normals = np.cross(points[:, None], points[None, :])[np.triu_indices(len(points), 1)]
    sides = normals @ points.T
    sides[np.abs(sides) < 1e-12] = 0
    return bool(((sides >= 0).all(1) | (sides <= 0).all(1)).any())


@pytest.mark.parametrize("seed", range(4))
def test_gathering_in_a_hemisphere_is_never_slower_than_the_bound(seed):
    """Search for a counterexample among small systems, where the bound is nearest to the truth, with Q and K too."""
    generator = torch.Generator().manual_seed(seed)
    n, beta, kind = (2, 3, 2, 5)[seed], (0.0, 1.0, 2.0, 0.5)[seed], ("SA", "USA")[seed % 2]
    query = None if seed < 2 else torch.randn(3, 3, generator=generator, dtype=torch.float64) / 2
    system = System(kind, beta, query=query)  # pyright: ignore
    points = starts.hemisphere(n, 3, seed)
    claims = check(points, system)
    path = simulate(system, points, np.linspace(0, 14, 29), tolerance=1e-7)
    shown = compare(claims, path)
    rate = named(shown, f"{theorems.RATE}.simulated")
    assert rate.status == "holds"
    assert rate.value >= named(claims, theorems.RATE).value
    assert named(shown, f"{theorems.ONE_CLUSTER}.simulated").status == "holds"


def test_the_comparison_would_notice_a_rate_that_is_too_high():
    system, points = System("SA", 0.0), starts.hemisphere(4, 3, 3)
    claims = [claim for claim in check(points, system) if claim.key == theorems.RATE]
    path = simulate(system, points, np.linspace(0, 14, 29))
    wrong = type(claims[0])(theorems.RATE, 2.5, "per unit of time", "proved")
    assert compare([wrong], path)[0].status == "refuted"
    assert compare(claims, path)[0].status == "holds"


@pytest.mark.parametrize(("kind", "late"), [("SA", 2.0), ("USA", 2 * math.e)])
def test_the_late_rate(kind, late):
    system, points = System(kind, 1.0), starts.hemisphere(4, 3, 2)
    shown = compare(check(points, system), simulate(system, points, np.linspace(0, 30 / late, 31), tolerance=1e-7))
    rate = named(shown, f"{theorems.LATE_RATE}.simulated")
    assert rate.status == "holds"
    assert rate.value == pytest.approx(late, rel=0.01)


@pytest.mark.parametrize("seed", range(6))
def test_no_token_leaves_its_cap_too_early(seed):
    """Search for a counterexample where the proved time is short enough to be simulated to its end."""
    kind, k = ("SA", "USA")[seed % 2], 2 + seed % 3
    beta = 3.0 + seed
    points = starts.caps(2 * k, 3, k, 0.2, seed)
    system = System(kind, beta)
    stay = named(check(points, system), theorems.CAPS_STAY)
    assert stay.evidence["published_time"] <= stay.value  # what is proved here is never weaker
    times = np.linspace(0, min(stay.value, 30.0 if kind == "SA" else 30 * math.exp(-beta)), 9)
    shown = compare([stay], simulate(system, points, times, tolerance=1e-6))[0]
    assert shown.status == "holds"


def test_the_comparison_would_notice_a_token_that_left():
    points, system = starts.caps(6, 3, 3, 0.2, 1), System("SA", 1.0)
    stay = named(check(points, system), theorems.CAPS_STAY)
    assert stay.status == "vacuous"
    longer = type(stay)(stay.key, 20.0, "time", "proved", evidence=stay.evidence)
    shown = compare([longer], simulate(system, points, [0.0, 10.0, 20.0], tolerance=1e-6))[0]
    assert shown.status == "refuted"
    assert shown.evidence["first_left_at"] == 10.0


def test_caps_shrink_in_time():
    points, system = starts.caps(4, 3, 2, 0.1, 0), System("SA", 12.0)
    claims = check(points, system)
    shrink, stay = named(claims, theorems.CAPS_SHRINK), named(claims, theorems.CAPS_STAY)
    assert shrink.status == "holds"
    assert shrink.value < shrink.evidence["published_time"] <= stay.value
    path = simulate(system, points, [0.0, shrink.value, 1.1 * shrink.value], tolerance=1e-5)
    shown = compare([shrink], path)[0]
    assert shown.status == "holds"
    assert shown.value < shown.evidence["ceiling"]


def test_the_condition_of_the_theorem_is_checked():
    """The example with beta = 9 and n = 64 is far outside of it: gamma is below 0, and nothing is concluded."""
    shrink = named(check(starts.caps(64, 3, 3, 0.1, 0), System("SA", 9.0)), theorems.CAPS_SHRINK)
    assert shrink.status == "unknown"
    assert shrink.evidence["gamma"] < 0


def test_caps_are_found_again():
    points = starts.caps(20, 4, 4, 0.1, 3).numpy()
    caps = find_caps(points, "SA", 20.0)
    assert caps is not None
    assert caps.k == 4
    assert len({tuple(caps.labels[5 * q : 5 * q + 5]) for q in range(4)}) == 4
    inside = np.einsum("id,id->i", points, caps.centres[caps.labels])
    assert inside.min() >= 1 - caps.epsilon
    assert find_caps(points[:1], "SA", 20.0) is None
    assert find_caps(points, "SA", 1e200) is not None  # whose square is no float


def test_alpha_bounds_every_pair_of_the_double_caps():
    """Search: points of different double caps, drawn towards each other, never exceed alpha."""
    caps = find_caps(starts.caps(12, 3, 3, 0.15, 5).numpy(), "SA", 6.0)
    assert caps is not None
    wide = math.acos(1 - 2 * caps.epsilon)
    greatest = -1.0
    for q in range(3):
        for r in range(q):
            w, v = caps.centres[q], caps.centres[r]
            towards = (v - (v @ w) * w) / np.linalg.norm(v - (v @ w) * w)
            back = (w - (v @ w) * v) / np.linalg.norm(w - (v @ w) * v)
            x, y = math.cos(wide) * w + math.sin(wide) * towards, math.cos(wide) * v + math.sin(wide) * back
            greatest = max(greatest, float(x @ y))
    assert greatest == pytest.approx(caps.alpha, abs=1e-12)


def test_orthogonal_tokens_follow_gamma():
    points, system = starts.orthogonal(4, 5), System("SA", 2.0)
    claims = check(points, system)
    path = simulate(system, points, np.linspace(0, 4, 5))
    shown = named(compare(claims, path), f"{theorems.COMMON}.simulated")
    assert shown.status == "holds"
    assert shown.value < 1e-7
    bent = type(path)(path.times * 1.01, path.points, path.steps, path.rejected, path.error)
    assert named(compare(claims, bent), f"{theorems.COMMON}.simulated").status == "refuted"


def test_the_bound_for_random_starts_is_called_vacuous():
    claim = named(check(starts.uniform(8, 64, 0), System("SA", 1.0)), "particles.chance_of_miss")
    assert claim.status == "vacuous"


def test_usage_errors():
    with pytest.raises(UsageError):
        check(starts.uniform(4, 3, 0, (2,)), System("SA", 1.0))
    with pytest.raises(UsageError):
        check(starts.uniform(4, 3, 0), System("SA", torch.ones(2)))
    path = simulate(System("SA", 1.0), starts.uniform(4, 3, 0, (2,)), [0.0, 0.1])
    with pytest.raises(UsageError):
        compare([], path)


def test_many_dimensions_take_no_square_array():
    points = np.eye(3, 20_000)
    tracemalloc.start()
    facts = facts_of(points, System("SA", 1.0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert facts.plain_scores and facts.plain_values and facts.score_norm == 1.0 and peak < 100e6
