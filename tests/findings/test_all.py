"""All findings together: sentences follow the claims, little evidence gives no crash, and torch is not needed."""

import json
import subprocess
import sys

import pytest

from lengthwise.findings.all import findings
from lengthwise.findings.answer import _differs, _widest, answer
from lengthwise.findings.encoding import EncodingEffect, Encodings
from lengthwise.findings.evidence import Evidence
from lengthwise.findings.grouping import BEYOND
from lengthwise.records import Claim
from planted_evidence import LEVELS, Place, distance, planted

METRICS = ("features", "edit")


def rising(place: Place) -> float:
    floor = 0.2 / place.depth + 0.3 * place.width**-0.5
    learned = 0.03 if place.axis == "training" else 0.05 + 0.2 * distance(place.task, place.axis, place.value)
    return learned + (0.0 if place.axis == "training" else floor * 0.5) - (0.01 if place.position == "rope" else 0.0)


def falling(place: Place) -> float:
    return 0.15 - 0.1 * rising(place)


@pytest.fixture(scope="module")
def full():
    return findings(planted(rising, seeds=(0, 1), metrics=METRICS, tasks=("one", "subset_sum")))


class TestAll:
    def test_it_is_json(self, full):
        text = json.dumps(full.plain(), allow_nan=False)
        assert json.loads(text)["answer"]["found"] == list(full.answer.found)

    def test_claims_of_all_parts(self, full):
        names = " ".join(claim.title for claim in full.claims())
        for part in (
            "rises with W1",
            "certified bounds",
            "floor falls",
            "effective rank",
            "layers that reach",
            "minus",
        ):
            assert part in names

    def test_the_same_twice(self):
        one, two = (findings(planted(rising, tasks=("one",), depths=(1, 2))).plain() for _ in range(2))
        assert one == two

    def test_torch_is_not_loaded(self):
        code = "import sys, lengthwise.findings.all; assert 'torch' not in sys.modules"
        subprocess.run([sys.executable, "-c", code], check=True)


class TestAnswer:
    def test_what_holds(self, full):
        found, sure = full.answer.found, full.answer.sure
        assert found[0].startswith(
            "The claim holds for half or more of the configurations that learned, in every metric"
        )
        assert "36 (features) and 36 (edit) of 36" in found[0]
        assert "falls with the number of layers" in found[1]
        assert "increases by 0.000" in found[2] and "over the 36 of 36 pairs" in found[2] and "undecided" in found[2]
        assert "in range learned+offset has 0.010 more risk" in found[2]
        assert "learned+offset is trained at random offsets" in found[3]
        assert sure[0].startswith("This rests on 72 small models, 2 seeds per configuration; 36 of 36")
        assert "36 of 36 (depth)" in sure[1]

    def test_what_does_not(self):
        found = answer(planted(falling, tasks=("one",), metrics=METRICS))
        assert found.found[0].startswith("The claim does not hold for half or more")
        assert "0 (features) and 0 (edit) of 18" in found.found[0]
        assert "is not shown to fall" in found.found[1]
        assert "18 of 18 configurations learned their training range" in found.sure[0]
        assert "nothing is known of the spread between seeds" in found.sure[0]

    def test_nothing_learned_is_nothing_found(self):
        found = answer(planted(lambda place: 0.4 + 0.1 * rising(place), tasks=("one",), metrics=METRICS))
        assert "0 of 18 configurations learned their training range" in found.sure[0]
        assert all("unknown" in sentence for sentence in found.found[:2])
        assert "cannot be compared" in found.found[2]

    def test_many_pairs_of_encodings_are_corrected_for_their_number(self):
        """One of ten pairs has p = 0.03 by itself, which ten pairs give by chance."""
        claim = Claim("c", 0.1, "risk", "measured", evidence={"p_value": 0.03})
        other = Claim("c", 0.05, "risk", "measured", evidence={"p_value": 0.9})
        ten = (EncodingEffect("a", "b", BEYOND, 9, 9, claim), *(EncodingEffect("a", "c", BEYOND, 9, 9, other),) * 9)
        said = _differs(_widest(ten), None, Encodings(ten))
        assert said.startswith("0 of 10 pairs of encodings differ beyond chance: beyond training")
        assert "increases by 0.100 more" in said and "undecided" in said
        assert "undecided" not in _differs(ten[0], None, Encodings(ten[:1]))

    def test_sentences(self, full):
        for part in (full.answer.claimed, full.answer.found, full.answer.sure):
            for sentence in part:
                assert sentence.endswith(".")
                assert ". " not in sentence

    def test_its_claims_are_among_all(self, full):
        every = [claim.plain() for claim in full.claims()]
        assert all(claim.plain() in every for claim in full.answer.claims)


class TestLittle:
    @pytest.mark.parametrize(
        "change",
        [
            {"tasks": ("one",), "positions": ("rope",), "depths": (1,), "widths": (16,)},
            {"levels": LEVELS[:1], "tasks": ("one",)},
            {"levels": LEVELS[1:3], "tasks": ("one",)},
            {"levels": (("training", 0), *(("length", n) for n in range(4, 10))), "tasks": ("sort",)},
            {"metrics": (), "tasks": ("one",)},
            {"widths": (16, 32), "depths": (1, 2), "tasks": ("one",)},
        ],
    )
    def test_no_crash(self, change):
        found = findings(planted(rising, **change))
        json.dumps(found.plain(), allow_nan=False)
        assert all(sentence.endswith(".") for sentence in (*found.answer.found, *found.answer.sure))

    def test_nothing_at_all(self):
        found = findings(Evidence((), ()))
        assert {claim.status for claim in found.claims()} == {"unknown"}
        assert "unknown" in found.answer.found[0]
        assert found.answer.sure[0] == "No model was measured."
