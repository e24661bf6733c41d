"""The answer of a ladder study as text: its figures are those of the evidence, and it fits 80 columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from lengthwise.cli.study_answer import write_answer, write_study_answer
from lengthwise.findings import gather
from lengthwise.findings.evidence import Evidence
from planted_evidence import Place, distance, planted


def rises(place: Place) -> float:
    """Risk follows the distance exactly; width 16 does not learn its range."""
    return (
        0.16 if (place.width, place.axis) == (16, "training") else 0.4 * distance(place.task, place.axis, place.value)
    )


def falls(place: Place) -> float:
    return 0.2 if place.width == 16 else 0.14 - 0.1 * rises(place)


def told(evidence: Evidence, capsys) -> str:
    write_answer(evidence)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("risk", "verdict"), [(rises, "The claim holds for half or more"), (falls, "The claim does not hold for half")]
)
def test_the_verdict_follows_the_evidence(risk, verdict, capsys):
    out = " ".join(told(planted(risk, depths=(2,), metrics=("features", "edit")), capsys).split())
    assert verdict in out and f"{12 if risk is rises else 0} (features)" in out


def test_what_was_learned_is_counted(capsys):
    out = told(planted(rises, depths=(1,)), capsys)
    assert "12 of 18 configurations learned: a risk of 0.15 or less" in " ".join(out.split())
    assert "one: 4 of 6; best 96.0% (learned+offset, depth 1, width 32)" in " ".join(out.split())
    assert all(f"\n{label} " in out for label in ("in range", "claimed", "found", "how sure"))
    assert max(map(len, out.splitlines())) <= 80


def test_a_study_without_ladders_says_nothing(monkeypatch, capsys):
    monkeypatch.setattr(gather, "gather", lambda folder: Evidence((), ()))
    write_study_answer(Path("anywhere"))
    assert capsys.readouterr().out == ""
