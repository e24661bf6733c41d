"""All records of ladders together: answers follow the claims, little evidence gives no crash, torch is not needed."""

import json
import subprocess
import sys

import pytest

from lengthwise.analyses.analysis import analyse, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import BEYOND, Evidence
from lengthwise.analyses.ladder.answer import _differs, _widest, answer
from lengthwise.analyses.ladder.encoding import EncodingEffect, Encodings
from lengthwise.records import Claim, Record
from planted_evidence import LEVELS, Place, distance, planted

METRICS = ("features", "edit")
LADDER = ("risk", "encodings", "floors", "collapse", "bound", "constants", "thresholds", "levels")


def rising(place: Place) -> float:
    floor = 0.2 / place.depth + 0.3 * place.width**-0.5
    learned = 0.03 if place.axis == "training" else 0.05 + 0.2 * distance(place.task, place.axis, place.value)
    return learned + (0.0 if place.axis == "training" else floor * 0.5) - (0.01 if place.position == "rope" else 0.0)


def falling(place: Place) -> float:
    return 0.15 - 0.1 * rising(place)


def records_of(evidence: Evidence) -> dict[str, Record]:
    """The records of a study that is its ladders alone, without pictures."""
    found = analyse(StudyContent("ladders", (), evidence=evidence, pictures=False))
    return {record.source: record for record in found}


@pytest.fixture(scope="module")
def evidence():
    return planted(rising, seeds=(0, 1), metrics=METRICS, tasks=("one", "subset_sum"))


@pytest.fixture(scope="module")
def full(evidence):
    return records_of(evidence)


class TestAll:
    def test_it_is_json(self, full):
        for record in full.values():
            assert Record.from_plain(json.loads(json.dumps(record.plain(), allow_nan=False))).source == record.source

    def test_claims_of_all_parts(self, full):
        keys = {claim.key for record in full.values() for claim in record.claims}
        wanted = ("monotone.verdict", "bound.certified_below_one", "floors.falls", "collapse.rank_change")
        assert {*wanted, "thresholds.row", "encodings.increase", "in_range.learned"} <= keys

    def test_no_part_broke(self, full):
        assert list(full) == [name for name in LADDER if name != "levels"] and not any(r.failed for r in full.values())

    def test_the_same_twice(self):
        one, two = (
            [record.plain() for record in records_of(planted(rising, tasks=("one",), depths=(1, 2))).values()]
            for _ in range(2)
        )
        assert one == two

    @pytest.mark.system
    def test_torch_is_not_loaded(self):
        code = (
            "import sys; from lengthwise.analyses.analysis import analyses; assert len(analyses.names()) > 10; "
            "assert 'torch' not in sys.modules"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


class TestAnswer:
    @pytest.mark.wording
    def test_what_holds(self, evidence):
        found, sure = answer(evidence).found, answer(evidence).sure
        assert found[0].startswith(
            "The claim holds for half or more of the configurations that learned, in every metric"
        )
        assert "36 (features) and 36 (edit) of 36" in found[0]
        assert "falls with the number of layers" in found[1]
        assert "increases by 0.000" in found[2] and "over the 36 of 36 pairs" in found[2] and "undecided" in found[2]
        assert "in range learned+offset has 0.010 more risk" in found[2]
        assert "learned+offset is trained at random offsets" in found[3]
        assert "72 small models, 2 seeds per configuration; 36 of 36" in sure[0]
        assert "36 of 36 (depth)" in sure[1]

    @pytest.mark.wording
    def test_a_metric_that_only_some_tasks_have_counts_those(self):
        every = planted(rising, tasks=("one", "two"), metrics=METRICS)
        shifts = tuple(one for one in every.shifts if (one.task, one.metric) != ("two", "edit"))
        found = answer(Evidence(every.climbs, shifts)).found
        assert "36 of 36 (features) and 18 of 18 (edit)," in found[0]

    @pytest.mark.wording
    def test_what_does_not(self):
        found = answer(planted(falling, tasks=("one",), metrics=METRICS))
        assert found.found[0].startswith("The claim does not hold for half or more")
        assert "0 (features) and 0 (edit) of 18" in found.found[0]
        assert "is not shown to fall" in found.found[1]
        assert "18 of 18 configurations learned their training range" in found.sure[0]
        assert "the spread between seeds is unknown" in found.sure[0]

    @pytest.mark.wording
    def test_nothing_learned_is_nothing_found(self):
        found = answer(planted(lambda place: 0.4 + 0.1 * rising(place), tasks=("one",), metrics=METRICS))
        assert "0 of 18 configurations learned their training range" in found.sure[0]
        assert all("unknown" in sentence for sentence in found.found[:2])
        assert "in no pair did both models learn" in found.found[2]

    @pytest.mark.wording
    def test_one_encoding_is_no_pair(self):
        found = answer(planted(rising, tasks=("one",), positions=("rope",))).found
        assert found[2] == "Encodings cannot be compared, because only one was studied."

    @pytest.mark.wording
    def test_many_pairs_of_encodings_are_corrected_for_their_number(self):
        """One of ten pairs has p = 0.03 by itself, which ten pairs give by chance."""
        claim = Claim("c", 0.1, "risk", "measured", evidence={"p_value": 0.03})
        other = Claim("c", 0.05, "risk", "measured", evidence={"p_value": 0.9})
        ten = (EncodingEffect("a", "b", BEYOND, 9, 9, claim), *(EncodingEffect("a", "c", BEYOND, 9, 9, other),) * 9)
        said = _differs(_widest(ten), None, Encodings(ten))
        assert said[1].startswith("0 of 10 pairs of encodings")
        assert "increases by 0.100 more" in said[0] and "undecided" in said[0]
        assert "undecided" not in _differs(ten[0], None, Encodings(ten[:1]))[0]

    def test_its_claims_are_among_all(self, full, evidence):
        every = [claim.plain() for record in full.values() for claim in record.claims]
        assert all(claim.plain() in every for claim in answer(evidence).claims)


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
        study = StudyContent("ladders", (), evidence=planted(rising, **change), study={"analyses": LADDER})
        for record in analyse(study):
            json.dumps(record.plain(), allow_nan=False)
            assert not record.failed, record.failed

    def test_nothing_at_all(self):
        nothing = Evidence((), ())
        named = [analyses.make(name) for name in ("risk", "floors", "collapse", "bound")]
        found = [one.analyse(StudyContent("ladders", (), evidence=nothing, pictures=False)) for one in named]
        assert {claim.status for record in found for claim in record.claims} == {"unknown"}
        assert records_of(nothing) == {}


@pytest.mark.parametrize("name", [*LADDER, "traces"])
def test_a_study_without_ladders_says_so_in_every_section_that_it_names(name):
    (record,) = analyse(StudyContent("curves", ()), [analyses.make(name)])
    assert record.source == name and record.failed and "broke" not in record.failed
