"""The page of a study with ladders: size, order, and text of a trace that would like to be code."""

from __future__ import annotations

import dataclasses
import re

import pytest

from lengthwise.analyses.evidence import Evidence
from lengthwise.messages import sentence
from lengthwise.probes.ladder import LadderProbe
from synthetic_content import ladder_content
from synthetic_ladders import synthetic_evidence


@pytest.fixture(scope="module")
def page(ladder_report) -> str:
    return ladder_report.read_text(encoding="utf-8")


@pytest.mark.system
def test_54_models_are_under_4_megabytes(page):
    assert len(page.encode()) < 4_000_000


def test_the_answer_comes_first_and_the_depth_is_behind_more(page):
    ids = re.findall(r'<section id="([\w-]+)"', page)
    depth = ["floors", "collapse", "bound", "constants", "thresholds"]
    assert ids[:5] == ["answer", "encodings", "levels", "traces", "more"] and ids[5:11] == [*depth, "reach"]
    assert ids[ids.index("runs") :][:3] == ["runs", "claims", "specification"]
    links = re.findall(r'<a href="#([\w-]+)"', page.partition("<nav")[2].partition("</nav>")[0])
    assert links == [*ids[1:5], "runs", "claims", "specification"] and len(links) <= 7
    assert page.index('data-shows="risk"') < page.index('id="encodings"')


def test_the_first_screen_says_what_was_not_learned_and_what_to_do(page):
    first = page.partition('id="encodings"')[0]
    assert first.index('id="risk-panels"') < first.index('id="not-learned"') < first.index('id="advice"')


def test_claims_of_the_findings_are_among_all(page):
    for key in ("floors.falls", "bound.certified_below_one"):
        assert page.count(sentence(key, {"place": ""}).partition(" (")[0]) >= 2  # in the section and in the table


def test_what_a_trace_holds_stays_text(page_of, hostile):
    evidence = synthetic_evidence(["subset_sum"], ["rope"], depths=(1,), widths=(16,), settings=LadderProbe(4, 2, 2))
    (climb,) = evidence.climbs
    examples = tuple(
        dataclasses.replace(example, written=text, wrong_at=0, why=text)
        for example, text in zip(climb.ladder.examples, hostile, strict=False)
    )
    own = dataclasses.replace(climb, ladder=dataclasses.replace(climb.ladder, examples=examples))
    text = page_of(ladder_content(Evidence((own,), evidence.shifts)))
    for bad in ("<script>window", "<img src=x", "<svg onload"):
        assert bad not in text
    assert "{{ 7 * 7 }}" in text


def test_a_study_without_ladders_pays_nothing(page_of):
    text = page_of(ladder_content(None, ["sort"]))
    assert "data-widget=traces" not in text and "data-shows" not in text.split("<body>")[1].split("<script")[0]
