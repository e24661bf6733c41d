"""Published claims about search: planted answers get the verdict they deserve, and noise gets none."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import INDEX, Evidence, place_text
from lengthwise.analyses.ladder.claimed import ClaimedAnalysis, claimed, figure_of
from lengthwise.analyses.ladder.constants import ATTACKED
from lengthwise.analyses.ladder.falls import chance_of, falls
from lengthwise.analyses.ladder.follow import following
from lengthwise.cli import main
from lengthwise.records import Claim
from planted_evidence import LEVELS, Place, planted

METRIC = "features"
SMALL = {"tasks": ("one", "three"), "depths": (1, 2), "widths": (16, 32)}  # 16 configurations
DATA = Path(__file__).parents[2] / "docs" / "data" / "search54.json.gz"


def certain(evidence: Evidence) -> Evidence:
    """The same with distances that are known to a thousandth."""
    shifts = (dataclasses.replace(one, low=one.w1 - 1e-3, high=one.w1 + 1e-3) for one in evidence.shifts)
    return Evidence(evidence.climbs, tuple(shifts))


def noisy(risk, items: int = 48, **given) -> Evidence:
    """Items with errors about `risk(place)`, the same draw for all seeds of a configuration."""

    def errors(place: Place) -> tuple[float, ...]:
        key = [len(place.task), len(place.position), place.depth, place.width, len(place.axis), place.value]
        drawn = np.random.default_rng(key).normal(risk(place), 0.05, items)
        return tuple(np.clip(drawn, 0, 1).tolist())

    return certain(planted(risk, errors=errors, items=items, **{**SMALL, **given}))


def rising(place: Place) -> float:
    return 0.05 if place.axis == "training" else 0.1 + 0.05 * (place.value - 4)


def of(claims: tuple[Claim, ...], name: str) -> list[Claim]:
    return [claim for claim in claims if claim.key == f"claimed.{name}"]


def test_a_risk_that_rises_everywhere_falls_nowhere() -> None:
    evidence = noisy(rising)
    found = falls(evidence, METRIC)
    assert len(found) == 16 and sum(one.beyond_chance for one in found) <= 1
    (claim,) = of(claimed(evidence), "strict")
    assert claim.status == "unknown"  # no sample confirms a strict order


def test_a_fall_is_found_between_the_levels_where_it_is() -> None:
    def dips(place: Place) -> float:
        return 0.15 if (place.axis, place.value) == ("content", 9) else rising(place)

    evidence = noisy(dips)
    found = falls(evidence, METRIC)
    assert all(one.beyond_chance and one.far == "content 9" and one.drop > 0 for one in found)
    assert chance_of(found) < 1e-9
    (claim,) = of(claimed(evidence), "strict")
    assert (claim.status, claim.value) == ("refuted", 16)


def test_noise_falls_in_one_configuration_of_twenty_at_most() -> None:
    found = falls(noisy(lambda _: 0.1, tasks=("one",), widths=tuple(range(16, 46)), levels=LEVELS[:7]), METRIC)
    assert len(found) == 120
    assert sum(one.beyond_chance for one in found) <= 12  # at most 6 expected; more than 12 has a chance of 1 in 200


def test_distances_that_may_be_equal_are_not_compared() -> None:
    assert falls(planted(rising), METRIC) == ()


def test_seeds_with_other_items_are_not_averaged() -> None:
    evidence = noisy(rising, tasks=("one",), depths=(1,), widths=(16,), positions=("rope",), seeds=(0, 1))
    first, second = evidence.climbs
    points = tuple(dataclasses.replace(point, errors=point.errors[:-1]) for point in second.ladder.points)
    other = dataclasses.replace(second, ladder=dataclasses.replace(second.ladder, points=points))
    assert falls(Evidence((first, other), evidence.shifts), METRIC) == ()


@pytest.mark.parametrize(("sign", "status"), [(1, "holds"), (-1, "refuted"), (0, "unknown")])
def test_an_absolute_encoding_is_compared_with_rope(sign: int, status: str) -> None:
    def moved(place: Place) -> float:
        wobble = 0.01 * ((place.depth + place.width + len(place.task)) % 3 - 1)
        return 0.3 + (wobble + 0.1 * sign if place.position == "learned" else 0.0)

    evidence = certain(planted(lambda _: 0.05, **SMALL, positions=("learned", "rope"), seeds=(0, 1), moved=moved))
    (claim,) = of(claimed(evidence), "moved")
    assert claim.status == status and claim.evidence["first"] == "learned"
    (rope,) = [one for one in of(claimed(evidence), "rope") if one.evidence["place"] == place_text(INDEX)]
    assert rope.status == "refuted"  # 0.25 more than in range is no bound
    swapped = certain(planted(lambda _: 0.05, **SMALL, positions=("rope", "learned"), seeds=(0, 1), moved=moved))
    (other,) = of(claimed(swapped), "moved")
    assert other.status == status and other.value == pytest.approx(claim.value)


def test_an_encoding_trained_at_offsets_decides_nothing() -> None:
    def risk(place: Place) -> float:
        return 0.05 if place.axis == "training" else 0.4 + 0.2 * (place.position != "rope") + 0.001 * place.depth

    (claim,) = of(claimed(certain(planted(risk, **SMALL, seeds=(0, 1)))), "longer")[1:]
    assert claim.status == "unknown" and claim.interval is not None and claim.interval.low > 0.1
    assert "claimed.offset" in [one.key for one in claim.assumptions if one.check == "violated"]
    (plain,) = of(claimed(certain(planted(risk, **SMALL, positions=("sinusoidal", "rope"), seeds=(0, 1)))), "longer")[
        1:
    ]
    assert plain.status == "holds"


def test_a_constant_that_follows_the_risk_is_found() -> None:
    def risk(place: Place) -> float:
        return 0.05 if place.axis == "training" else 0.2 + 0.1 * place.depth + 0.001 * place.width

    evidence = planted(risk, seeds=(0, 1))
    for sign in (1, -1):
        climbs = []
        for climb in evidence.climbs:
            slope = 50.0 + sign * (10 * climb.depth + 0.1 * climb.width)
            points = tuple(dataclasses.replace(point, slope=slope) for point in climb.ladder.points)
            climbs.append(dataclasses.replace(climb, ladder=dataclasses.replace(climb.ladder, points=points)))
        found = following(Evidence(tuple(climbs), evidence.shifts), ATTACKED)
        assert found is not None and found.models == 108
        assert found.correlation.mean == pytest.approx(sign)
    assert following(evidence, ATTACKED) is None


def test_few_widths_leave_floors_undecided() -> None:
    (claim,) = of(claimed(certain(planted(rising, **SMALL, seeds=(0, 1)))), "floor")
    assert claim.status == "unknown" and claim.value is None and figure_of(claim) == ("–", "")


def test_the_record_has_a_table_per_group() -> None:
    assert ClaimedAnalysis().analyse(StudyContent("none", ())).failed
    record = ClaimedAnalysis().analyse(StudyContent("planted", (), evidence=certain(planted(rising, **SMALL))))
    assert [table.key for table in record.tables] == ["claimed.distance", "claimed.encoding", "claimed.depth"]
    assert sum(len(table.rows) for table in record.tables) == len(record.claims)
    assert [claim.status for claim in of(record.claims, "rising")] == ["holds"]


@pytest.mark.system
def test_the_command_shows_the_verdicts_of_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "show", str(DATA), "--analysis", "claimed", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)["records"]
    statuses = {(one["key"], one["evidence"].get("metric")): one["status"] for one in record["claims"]}
    assert statuses["claimed.strict", "features"] == "refuted"
    assert statuses["claimed.rising", "features"] == "holds"
    assert statuses["claimed.bounded", None] == "vacuous"


def test_an_analysis_that_the_study_has_no_data_for_is_told(
    tmp_path, synthetic_study, capsys: pytest.CaptureFixture[str]
) -> None:
    synthetic_study(tmp_path / "plain", seeds=1)
    assert main(["study", "show", str(tmp_path / "plain"), "--analysis", "claimed"]) == 2
    assert capsys.readouterr().err.strip()
    assert main(["study", "show", str(tmp_path / "plain"), "--analysis", "nothing"]) == 2


def test_one_configuration_is_too_few_for_a_verdict() -> None:
    one = noisy(rising, tasks=("one",), positions=("rope",), depths=(1,), widths=(16,))
    assert [claim.status for claim in of(claimed(one), "rising")] == ["unknown"]
