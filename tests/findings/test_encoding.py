"""Encodings: a planted difference is found with its sign, and none where there is none."""

import numpy as np
import pytest

from lengthwise.findings.encoding import encodings
from lengthwise.findings.evidence import Evidence
from lengthwise.findings.grouping import BEYOND, IN_RANGE
from planted_evidence import Place, planted


def better_beyond(place: Place) -> float:
    """The same in training; on depth rope has 0.12 less risk, and as much noise as that would hide in one pair."""
    noise = np.random.default_rng([len(place.task), place.depth, place.width, place.seed, place.value]).normal(0, 0.05)
    return 0.4 + float(noise) - (0.12 if (place.position, place.axis) == ("rope", "depth") else 0.0)


class TestEncodings:
    def test_planted(self):
        found = encodings(planted(better_beyond, seeds=(0, 1)))
        effects = {effect.place: effect for effect in found.effects}
        assert list(effects) == [IN_RANGE, "depth", "branching", "content", BEYOND]
        assert effects["depth"].difference == pytest.approx(0.12)
        assert effects[BEYOND].difference == pytest.approx(0.04)
        assert effects["depth"].pairs == 3 * 3 * 3 * 2
        assert effects["depth"].significant
        for place in (IN_RANGE, "branching", "content"):
            assert effects[place].difference == pytest.approx(0)
            assert not effects[place].significant
        assert (effects["depth"].first, effects["depth"].second) == ("learned+offset", "rope")

    def test_no_effect_is_seldom_called_one(self):
        rng = np.random.default_rng(0)
        level = (("training", 0), ("depth", 4))
        calls = [encodings(planted(lambda p: float(rng.random()), levels=level, tasks=("one",))) for _ in range(60)]
        assert sum(found.at(BEYOND)[0].significant for found in calls) <= 8  # 5 % of 60 is 3

    def test_three_encodings_are_three_pairs(self):
        found = encodings(planted(better_beyond, positions=("none", "rope", "alibi"), tasks=("one",)))
        pairs = [(effect.first, effect.second) for effect in found.at("depth")]
        assert pairs == [("none", "rope"), ("none", "alibi"), ("rope", "alibi")]

    def test_unpaired_models_are_named(self):
        evidence = planted(better_beyond, tasks=("one",))
        effect = encodings(Evidence(evidence.climbs[1:], evidence.shifts)).at(BEYOND)[0]
        assert effect.pairs == 8
        assert any("one side only" in a.statement for a in effect.claim.assumptions)

    def test_one_encoding_has_no_pair(self):
        assert encodings(planted(better_beyond, positions=("rope",))).effects == ()
