"""The records of a ladder study as text: they follow the evidence, and fit 80 columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import Evidence
from lengthwise.cli.commands import study_show
from lengthwise.studies.store import Store
from paper_studies import make_content
from planted_evidence import Place, distance, planted


def rises(place: Place) -> float:
    """Risk follows the distance exactly; width 16 does not learn its range."""
    return (
        0.16 if (place.width, place.axis) == (16, "training") else 0.4 * distance(place.task, place.axis, place.value)
    )


def falls(place: Place) -> float:
    return 0.2 if place.width == 16 else 0.14 - 0.1 * rises(place)


@pytest.fixture
def told(monkeypatch, capsys):
    """What is written of a study that is its ladders alone."""

    def call(evidence: Evidence | None) -> str:
        study = StudyContent("ladders", (), evidence=evidence)
        monkeypatch.setattr(study_show, "read_content", lambda folder: study)
        study_show.write_study_records(Path("anywhere"))
        return capsys.readouterr().out

    return call


@pytest.mark.wording
@pytest.mark.parametrize(
    ("risk", "verdict"), [(rises, "The claim holds for half or more"), (falls, "The claim does not hold for half")]
)
def test_the_verdict_follows_the_evidence(risk, verdict, told):
    out = " ".join(told(planted(risk, depths=(2,), metrics=("features", "edit"))).split())
    assert verdict in out and f"{12 if risk is rises else 0} (features)" in out


@pytest.mark.wording
def test_what_was_learned_is_counted(told):
    out = told(planted(rises, depths=(1,)))
    assert "12 of 18 configurations learned" in " ".join(out.split())
    assert "4 of 6" in out and "96 %" in out and "How sure:" in out and "Claimed:" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("ladders", [True, False])
def test_where_ladders_lead_their_answer_comes_before_whole_answers(monkeypatch, capsys, tmp_path, ladders):
    """Ladders judge single tokens; that no cell was learned by exact match must not be the first thing said of them."""
    evidence = planted(rises, depths=(1,))
    made = make_content({(evidence.tasks[0], "none"): [0, 0], (evidence.tasks[0], "rope"): [0, 0]})
    study = replace(made, evidence=evidence if ladders else None)
    monkeypatch.setattr(study_show, "read_content", lambda folder: study)
    with Store.open(tmp_path, write=True) as store:
        store.note("study", {"name": "study", "keep": 0.9})
        store.plan(list(study.runs))
        study_show.write_results(store)
    out = capsys.readouterr().out
    assert study.ladders_lead is ladders
    assert (out.index("─\n") < out.index("runs done")) is ladders and ("\nWhole answers\n" in out) is ladders
    assert max(map(len, out.splitlines())) <= 80


def test_no_ladders_and_no_runs_say_so_in_one_record(told):
    assert told(None).count("─\n") == 1


def test_a_record_that_has_nothing_for_a_terminal_is_not_printed(monkeypatch, capsys):
    """One task and two encodings of two seeds: the only comparison is within the task, which is left to the page."""
    study = make_content({("sort", "none"): [60, 60], ("sort", "rope"): [20, 20]})
    monkeypatch.setattr(study_show, "read_content", lambda folder: study)
    (compared,) = (record for record in study_show.study_records(Path("anywhere")) if record.source == "comparisons")
    study_show.write_study_records(Path("anywhere"))
    assert compared.claims and compared.title not in capsys.readouterr().out
