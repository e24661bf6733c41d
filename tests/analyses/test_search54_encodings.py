"""What search54 says of its encodings, worked out again from the shipped file by plain sums."""

from __future__ import annotations

import gzip
import json
import math
import random
from pathlib import Path
from statistics import fmean, pstdev

import pytest
from scipy.stats import t

from lengthwise.analyses.evidence import BEYOND, IN_RANGE, summed_up
from lengthwise.analyses.ladder.answer import answer
from lengthwise.analyses.ladder.encoding import encodings
from lengthwise.studies.summary import read_summary

DATA = Path(__file__).parents[2] / "docs" / "data" / "search54.json.gz"

Risks = dict[tuple[str, int, int, int, str], dict[str, float]]
Groups = dict[str, dict[tuple[int, int], list[float]]]


@pytest.fixture(scope="module")
def risks() -> Risks:
    """Model → its mean risk in range and beyond, from the errors of the file alone."""
    found: Risks = {}
    for row in json.loads(gzip.decompress(DATA.read_bytes()))["runs"]:
        run, ladder = row["run"], row["records"]["ladder"]
        axes = [level[0] for level in ladder["tables"][0]["rows"]]
        errors = [level["errors"] for level in ladder["data"]["levels"]]
        of_level = [(axis, fmean(own)) for axis, own in zip(axes, errors, strict=True)]
        found[run["task"], run["depth"], run["width"], run["seed"], run["position"]] = {
            "in range": fmean(risk for axis, risk in of_level if axis == "training"),
            "beyond": fmean(risk for axis, risk in of_level if axis != "training"),
        }
    return found


def blocks(risks: Risks) -> Groups:
    """Task → configuration → difference of the increases of each seed, where both learned."""
    found: Groups = {}
    for (task, depth, width, seed, position), one in risks.items():
        two = risks[task, depth, width, seed, "rope"]
        if position != "rope" and max(one["in range"], two["in range"]) <= 0.15:
            value = (one["beyond"] - one["in range"]) - (two["beyond"] - two["in range"])
            found.setdefault(task, {}).setdefault((depth, width), []).append(value)
    return found


def student(groups: Groups, over: bool) -> tuple[float, float]:
    """Mean ± t standard errors, those of 4,000 means: tasks are drawn if `over`, configurations in each of them."""
    draw, means = random.Random(0), []
    for _ in range(4000):
        tasks = draw.choices(list(groups), k=len(groups)) if over else list(groups)
        drawn = [own for task in tasks for own in draw.choices(list(groups[task].values()), k=len(groups[task]))]
        means.append(fmean(value for own in drawn for value in own))
    centre = fmean(value for units in groups.values() for own in units.values() for value in own)
    count = len(groups) if over else sum(map(len, groups.values()))
    free = count - (1 if over else len(groups))
    half = t.ppf(0.975, free) * pstdev(means) * math.sqrt(count / free)
    return centre - half, centre + half


def pairs(risks: Risks) -> list[tuple[dict[str, float], dict[str, float]]]:
    return [(row, risks[*key[:4], "rope"]) for key, row in risks.items() if key[4] == "learned"]


def naive(risks: Risks) -> dict[str, float]:
    """Mean differences, learned minus rope. Learned is a risk of at most 0.15 in range."""
    every = pairs(risks)
    learned = [pair for pair in every if all(model["in range"] <= 0.15 for model in pair)]

    def increases(some: list[tuple[dict[str, float], dict[str, float]]]) -> list[float]:
        return [(a["beyond"] - a["in range"]) - (b["beyond"] - b["in range"]) for a, b in some]

    return {
        "pairs": len(every),
        "learned": len(learned),
        "risk in range": fmean(a["in range"] - b["in range"] for a, b in every),
        "risk beyond": fmean(a["beyond"] - b["beyond"] for a, b in every),
        "increase": fmean(increases(every)),
        "increase, learned": fmean(increases(learned)),
    }


def test_the_figures_of_the_file(risks: Risks) -> None:
    found = naive(risks)
    assert (found["pairs"], found["learned"]) == (81, 76)
    assert round(found["risk in range"], 3) == 0.021
    assert round(found["risk beyond"], 3) == 0.194
    assert round(found["increase"], 3) == 0.173
    assert round(found["increase, learned"], 3) == 0.182


def test_the_finding_is_the_increase_where_both_learned(risks: Risks) -> None:
    plain, found = naive(risks), encodings(summed_up(read_summary(DATA)))
    (beyond,), (in_range,) = found.at(BEYOND), found.at(IN_RANGE)
    assert (beyond.first, beyond.second) == ("learned", "rope")
    assert (beyond.pairs, beyond.measured, in_range.pairs) == (plain["learned"], plain["pairs"], plain["pairs"])
    assert beyond.difference == pytest.approx(plain["increase, learned"], abs=1e-9)
    assert in_range.difference == pytest.approx(plain["risk in range"], abs=1e-9)
    assert beyond.risk_of_all == pytest.approx(plain["risk beyond"], abs=1e-9)
    assert beyond.increase_of_all == pytest.approx(plain["increase"], abs=1e-9)
    assert beyond.claim.interval is not None
    ends = (beyond.claim.interval.low, beyond.claim.interval.high)
    assert ends == pytest.approx(student(blocks(risks), over=False), abs=0.002)
    assert beyond.claim.evidence["over"] == pytest.approx(student(blocks(risks), over=True), abs=0.02)
    assert beyond.claim.evidence["p_value"] < 0.001
    assert beyond.decided and beyond.claim.interval.low > 0.1 and beyond.claim.evidence["over"][0] > 0


@pytest.mark.system
def test_the_headline_is_made_from_it() -> None:
    claims = answer(summed_up(read_summary(DATA))).claims
    (compared,) = [claim for claim in claims if claim.key == "encodings.increase"]
    assert compared.evidence["n"] == 76
    assert any(claim.key == "encodings.risk" for claim in claims)
