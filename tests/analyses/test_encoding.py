"""Encodings: a planted difference is found with its sign, and none where there is none."""

import numpy as np
import pytest

from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import BEYOND, IN_RANGE, INDEX, Evidence
from lengthwise.analyses.ladder.encoding import EncodingEffect, EncodingsAnalysis, encodings
from planted_evidence import Place, planted


def better_beyond(place: Place) -> float:
    """The same in training; on depth rope has 0.12 less risk, and as much noise as that would hide in one pair."""
    noise = np.random.default_rng([len(place.task), place.depth, place.width, place.seed, place.value]).normal(0, 0.05)
    if place.axis == "training":
        return 0.1
    return 0.4 + float(noise) - (0.12 if (place.position, place.axis) == ("rope", "depth") else 0.0)


def learns_less(place: Place) -> float:
    """Rope learns; the other learns at width 64 alone, and has 0.3 more risk elsewhere. A shift costs both 0.4."""
    worse = place.position != "rope" and place.width != 64
    return 0.05 + (0.0 if place.axis == "training" else 0.4) + (0.3 if worse else 0.0)


def unlearned_lose_less(place: Place) -> float:
    """A shift costs rope 0.5 and the other 0.6 where it learned; where it did not, there is nothing left to lose."""
    if place.position == "rope":
        return 0.05 if place.axis == "training" else 0.55
    if place.width != 64:
        return 0.8
    return 0.05 if place.axis == "training" else 0.65


def significant(effect: EncodingEffect) -> bool:
    """Whether the sign-flip test has p < 0.05."""
    return effect.claim.evidence["p_value"] < 0.05


class TestEncodings:
    def test_planted(self):
        found = encodings(planted(better_beyond, seeds=(0, 1)))
        effects = {effect.place: effect for effect in found.effects}
        assert list(effects) == [IN_RANGE, "depth", "branching", "content", BEYOND]
        assert effects["depth"].difference == pytest.approx(0.12)
        assert effects[BEYOND].difference == pytest.approx(0.04)
        assert effects["depth"].pairs == 3 * 3 * 3 * 2
        assert significant(effects["depth"])
        for place in (IN_RANGE, "branching", "content"):
            assert effects[place].difference == pytest.approx(0)
            assert not significant(effects[place])
        assert (effects["depth"].first, effects["depth"].second) == ("learned+offset", "rope")

    def test_what_was_not_learned_is_no_cost_of_a_shift(self):
        found = {effect.place: effect for effect in encodings(planted(learns_less)).effects}
        assert found[BEYOND].difference == pytest.approx(0)
        assert (found[BEYOND].pairs, found[BEYOND].measured) == (9, 27)
        assert found[BEYOND].risk_of_all == pytest.approx(0.2)  # what the levels of risk would have said
        assert found[IN_RANGE].difference == pytest.approx(0.2)
        assert found[IN_RANGE].pairs == 27

    def test_models_that_did_not_learn_do_not_turn_the_sign(self):
        effect = encodings(planted(unlearned_lose_less)).at(BEYOND)[0]
        assert effect.difference == pytest.approx(0.1)
        assert effect.increase_of_all == pytest.approx((0.1 - 0.5 - 0.5) / 3)
        assert effect.claim.evidence["pairs_by_task"] == {"one": 3, "two": 3, "three": 3}

    def test_no_pair_that_learned_is_unknown(self):
        effect = encodings(planted(lambda place: 0.5)).at(BEYOND)[0]
        assert (effect.difference, effect.pairs, effect.claim.status) == (None, 0, "unknown")

    def test_task_by_task(self):
        found = encodings(planted(lambda p: 0.1 if p.axis == "training" else 0.2 + 0.1 * (p.task == "two")))
        assert [effect.task for effect in found.by_task] == ["one", "two", "three"]
        assert all(effect.place == BEYOND and effect.difference == pytest.approx(0) for effect in found.by_task)

    def test_random_offsets_are_named_unless_the_plain_encoding_was_studied_too(self):
        def notes(*positions: str) -> int:
            claim = encodings(planted(better_beyond, positions=positions, tasks=("one",))).at(BEYOND)[0].claim
            return sum(assumption.key == "encodings.offset" for assumption in claim.assumptions)

        assert notes("learned+offset", "rope") == 1
        assert notes("learned+offset", "rope", "learned") == 0
        assert notes("rope", "alibi") == 0

    def test_no_effect_is_seldom_called_one(self):
        rng = np.random.default_rng(0)
        level = (("training", 0), ("depth", 4))
        calls = [
            encodings(planted(lambda p: 0.15 * float(rng.random()), levels=level, tasks=("one",))) for _ in range(60)
        ]
        assert sum(significant(found.at(BEYOND)[0]) for found in calls) <= 8  # 5 % of 60 is 3

    def test_three_encodings_are_three_pairs(self):
        found = encodings(planted(better_beyond, positions=("none", "rope", "alibi"), tasks=("one",)))
        pairs = [(effect.first, effect.second) for effect in found.at("depth")]
        assert pairs == [("none", "rope"), ("none", "alibi"), ("rope", "alibi")]

    def test_unpaired_models_are_named(self):
        evidence = planted(better_beyond, tasks=("one",))
        effect = encodings(Evidence(evidence.climbs[1:], evidence.shifts)).at(BEYOND)[0]
        assert effect.pairs == 8
        assert any(a.key == "paired.unpaired" for a in effect.claim.assumptions)

    def test_one_encoding_has_no_pair(self):
        assert encodings(planted(better_beyond, positions=("rope",))).effects == ()


def shifts_only(place: Place) -> float:
    """Longer problems cost both the same; moved positions cost the learned table 0.3 and rope nothing."""
    return 0.05 + (0.3 if place.position == "learned" else 0.0) + 0.001 * place.width / (place.depth + place.seed)


class TestIndexShift:
    def test_index_shift_and_length_are_kept_apart(self):
        risk = lambda p: 0.05 if p.axis == "training" else 0.45 + 0.001 * p.width  # noqa: E731
        found = encodings(planted(risk, positions=("learned", "rope"), seeds=(1, 2), moved=shifts_only))
        places = {effect.place: effect for effect in found.effects}
        assert list(places) == [IN_RANGE, INDEX, "depth", "branching", "content", BEYOND]
        assert places[INDEX].difference == pytest.approx(0.3)
        assert places[INDEX].decided
        assert places["depth"].difference == pytest.approx(0)

    def test_only_models_that_learned_and_were_measured(self):
        def risk(place: Place) -> float:
            return 0.5 if place.width == 16 else 0.05

        effect = encodings(planted(risk, positions=("learned", "rope"), moved=shifts_only)).at(INDEX)[0]
        assert (effect.pairs, effect.measured) == (18, 27)
        assert encodings(planted(risk, positions=("learned", "rope"))).at(INDEX) == []

    def test_what_would_have_been_detected_is_said_where_nothing_is_decided(self):
        rng = np.random.default_rng(3)
        noise = lambda p: 0.1 if p.axis == "training" else 0.3 + float(rng.normal(0, 0.05))  # noqa: E731
        effect = encodings(planted(noise, seeds=(0, 1), levels=(("training", 0), ("depth", 4)))).at("depth")[0]
        known = effect.claim.evidence
        assert known["decided"] == effect.decided
        assert 0 < known["detectable"] < 0.1
        assert known["detectable_over"] > 0
        assert "encodings.these_tasks" in [a.key for a in effect.claim.assumptions]

    def test_tasks_that_contradict_each_other_decide_nothing_for_others(self):
        """For these tasks the difference is certain; for other tasks like these it is not."""

        def risk(place: Place) -> float:
            gain = {"one": 0.3, "two": 0.1, "three": -0.1}[place.task] * (place.position == "rope")
            return 0.05 if place.axis == "training" else 0.4 - gain + 0.001 * place.width * place.depth

        effect = encodings(planted(risk, seeds=(0, 1))).at(BEYOND)[0]
        assert effect.claim.evidence["p_value"] < 0.05
        assert effect.decided
        low, high = effect.claim.evidence["over"]
        assert low < 0 < high

    def test_tables(self):
        evidence = planted(lambda p: 0.05, positions=("learned", "rope", "alibi"), moved=shifts_only)
        study = StudyContent("planted", (), evidence=evidence, pictures=False)
        record = EncodingsAnalysis().analyse(study)
        answer, index = record.table("encodings.answer"), record.table("encodings.index")
        assert len(answer.rows) == 3 * 3
        assert [row["encoding"] for row in index.records()] == ["learned", "rope", "alibi"]
        assert index.records()[0]["increase"] == pytest.approx(0.3, abs=0.1)
        effects = [effect for place in (INDEX, "depth", BEYOND) for effect in encodings(evidence).at(place)]
        assert [row["detectable"] is None for row in answer.records()] == [effect.decided for effect in effects]
