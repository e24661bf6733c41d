"""The records of the probe `guarantee` together: the smallest bound of each run, chance, and the truth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lengthwise.analyses.analysis import analyse
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.guarantee import GuaranteeAnalysis, smallest_bound
from lengthwise.records import Claim, Interval, Record
from lengthwise.studies.record import packed

CHANCE = 3.4


def bound(level: str, by: str, value: float) -> Claim:
    status = "holds" if value < CHANCE else "vacuous"
    return Claim(f"tokens.loss.{level}.{by}", value, "nats", "certified", status, evidence={"chance": CHANCE})


def measured(level: str, by: str, value: float, of: float) -> Claim:
    evidence = {"target": "loss", "level": level, "inequality": by, "bound": of, "below_bound": value < of}
    return Claim("guarantee.seen", value, "nats", "measured", "holds", Interval(value, value), evidence=evidence)


def record(tokens: float, truth: float) -> Record:
    """Two bounds of tokens, of which Freedman's is the smaller, and a vacuous one of documents."""
    other = Claim("tokens.top1.tokens.freedman", 0.1, "share", "certified", evidence={"chance": 0.9})
    bounds = (bound("documents", "product", 3.6), bound("tokens", "hoeffding", tokens + 1), other)
    own = (bound("tokens", "freedman", tokens), measured("tokens", "hoeffding", truth, tokens + 1))
    return Record("guarantee", claims=(*bounds, *own, measured("tokens", "freedman", truth, tokens)))


@pytest.fixture
def study(content_of) -> StudyContent:
    made = content_of({("sort", "none"): [60, 60, None]})
    records = {0: record(1.6, 1.5), 1: record(1.7, 1.8)}
    runs = [
        replace(run, stored={**run.stored, **packed({"guarantee-held_out=9": records[run.seed]})})
        if run.state == "done"
        else run
        for run in made.runs
    ]
    return replace(made, runs=tuple(runs), pictures=False)


def test_the_smallest_bound_is_compared_with_chance_and_with_the_truth(study):
    found = GuaranteeAnalysis().analyse(study)
    rows = [
        (row["seed"], row["of"], row["bound"], row["measured"], row["verdict"]) for row in found.tables[0].records()
    ]
    assert rows == [
        (0, "documents", 3.6, None, "vacuous"),
        (0, "tokens", 1.6, 1.5, "below chance"),
        (1, "documents", 3.6, None, "vacuous"),
        (1, "tokens", 1.7, 1.8, "exceeded"),
    ]
    assert {row["inequality"] for row in found.tables[0].records()} == {"product", "freedman"}
    claims = [(claim.key, claim.value, claim.unit, claim.status) for claim in found.claims]
    assert claims == [
        ("guarantee.below_chance", 0, "of 2", "vacuous"),
        ("guarantee.below_chance", 1, "of 2", "holds"),
        ("guarantee.exceeded", 1, "of 2", "holds"),
    ]
    assert len(found.text) == 3


def test_it_stands_for_the_section_of_the_probe(study):
    assert [one.source for one in analyse(study)].count("guarantee") == 1 and study.shown_probes == ()


def test_nothing_to_say(content_of):
    none = content_of({("sort", "none"): [60]})
    assert not GuaranteeAnalysis().applies(none) and GuaranteeAnalysis().analyse(none).failed
    assert smallest_bound(Record("guarantee"), "tokens") == {}
