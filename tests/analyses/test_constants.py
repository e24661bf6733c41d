"""Constants by encoding and depth: planted directions are found, and search54 says what its file says."""

from __future__ import annotations

import dataclasses
import gzip
import json
from pathlib import Path

import pytest

from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import Climb, Evidence, summed_up
from lengthwise.analyses.ladder.constants import ATTACKED, CERTIFIED, IN_TRAINING, RISE, ConstantsAnalysis, constants
from lengthwise.studies.summary import read_summary
from planted_evidence import Place, planted

DATA = Path(__file__).parents[2] / "docs" / "data" / "search54.json.gz"


def risk(place: Place) -> float:
    """Deep models lose less; those of width 16 do not learn."""
    if place.axis == "training":
        return 0.5 if place.width == 16 else 0.05
    return 0.6 - 0.1 * place.depth


def with_slopes(climb: Climb) -> Climb:
    """Constants that grow with depth, and are larger with rope at every level but training."""
    rope = climb.position == "rope"
    points = tuple(
        dataclasses.replace(point, slope=climb.depth * (1.0 + (rope and point.axis != "training")))
        for point in climb.ladder.points
    )
    ladder = dataclasses.replace(climb.ladder, points=points, certified=10.0**climb.depth)
    return dataclasses.replace(climb, ladder=ladder)


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    found = planted(risk)
    return Evidence(tuple(map(with_slopes, found.climbs)), found.shifts)


def test_planted_directions(evidence: Evidence) -> None:
    found = {(one.quantity, one.first): one for one in constants(evidence)}
    assert found[ATTACKED, "learned+offset"].larger == (0, 27)
    assert found[ATTACKED, "learned+offset"].claim.evidence["ratio"] == pytest.approx(0.5)
    assert found[IN_TRAINING, "learned+offset"].larger == (0, 0)  # the same in training
    assert found[CERTIFIED, "3 layers"].larger == (18, 18)
    assert found[CERTIFIED, "3 layers"].claim.evidence["ratio"] == pytest.approx(100)
    assert found[RISE, "3 layers"].larger == (0, 12)  # of the models that learned
    assert found[RISE, "learned+offset"].claim.status == "unknown"


def test_the_record(evidence: Evidence) -> None:
    record = ConstantsAnalysis().analyse(StudyContent("planted", (), evidence=evidence))
    assert len(record.table("constants.larger").rows) == len(record.claims) == 8
    rows = record.table("constants.values").records()
    assert [(row["encoding"], row["layers"]) for row in rows][:2] == [("learned+offset", 1), ("learned+offset", 2)]
    assert rows[0]["certified"] == pytest.approx(10)


def test_models_without_constants_are_left_out() -> None:
    assert not ConstantsAnalysis().applies(StudyContent("planted", (), evidence=planted(lambda p: 0.5)))


def test_search54_attacked_slopes_have_no_direction() -> None:
    """Claimed elsewhere to be smaller with rope; counted again from the file by plain sums."""
    steepest = {}
    for row in json.loads(gzip.decompress(DATA.read_bytes()))["runs"]:
        run, table = row["run"], row["records"]["ladder"]["tables"][0]
        place = [column["name"] for column in table["columns"]].index("slope")
        key = (run["task"], run["depth"], run["width"], run["seed"])
        steepest[*key, run["position"]] = max(level[place] for level in table["rows"])
    larger = sum(steepest[*key[:4], "rope"] > value for key, value in steepest.items() if key[4] != "rope")
    (found,) = [
        one for one in constants(summed_up(read_summary(DATA))) if (one.quantity, one.second) == (ATTACKED, "rope")
    ]
    assert (larger, found.larger) == (41, (40, 81))
    assert found.claim.interval is not None
    assert found.claim.interval.low < 0.5 < found.claim.interval.high
