"""The records of a ladder study as text: they follow the evidence, and fit 80 columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import Evidence
from lengthwise.cli.commands import study_show
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


def test_no_ladders_and_no_runs_say_so_in_one_record(told):
    assert told(None).count("─\n") == 1


def test_a_record_that_has_nothing_for_a_terminal_is_not_printed(monkeypatch, capsys):
    """One task and two encodings of two seeds: the only comparison is within the task, which is left to the page."""
    study = make_content({("sort", "none"): [60, 60], ("sort", "rope"): [20, 20]})
    monkeypatch.setattr(study_show, "read_content", lambda folder: study)
    (compared,) = (record for record in study_show.study_records(Path("anywhere")) if record.source == "comparisons")
    study_show.write_study_records(Path("anywhere"))
    assert compared.claims and compared.title not in capsys.readouterr().out
