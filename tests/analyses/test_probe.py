"""The records of any probe in a report: means over seeds, extremes, and figures against size and reach."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import altair as alt
import pytest

from lengthwise.analyses.analysis import analyse
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.probe import ProbeAnalysis, probe_groups
from lengthwise.records import Claim, Column, Record, Table
from lengthwise.reports.page import render
from lengthwise.studies.record import packed

# setting → sharpness in the two layers at the end of training; half of it at twice, a third at three times
SETTINGS = {"cold": (0.9, 0.7), "hot": (0.2, 0.4), "hard": (1.0, 1.0)}
COLUMNS = (Column("size", "whole"), Column("layer", "whole"), Column("best", "share", "weight of the best key"))


def record(variant: str) -> Record:
    rows = tuple((20 * k, n, best / k) for k in (1, 2, 3) for n, best in enumerate(SETTINGS[variant], start=1))
    first = sum(SETTINGS[variant]) / 2
    claims = (
        Claim("sharp.best", first, "share", "measured", evidence={"size": 20}),
        Claim("sharp.name", "some text", "", "measured"),
    )
    return Record("sharp", title="sharpness", claims=claims, tables=(Table("sharp.rows", COLUMNS, rows),))


@pytest.fixture
def study(content_of) -> StudyContent:
    reaches = {"cold": [30, 40], "hot": [60, 50], "hard": [20, 20]}
    made = content_of({(f"sort@{name}", "none"): own for name, own in reaches.items()})
    runs = [replace(run, stored={**run.stored, **packed({"sharp": record(run.variant)})}) for run in made.runs]
    return replace(made, runs=tuple(runs))


def test_cells_with_a_record_are_grouped(study) -> None:
    (group,) = probe_groups(study, "sharp")
    assert (group.task, group.position, group.train_size) == ("sort", "none", 20) and len(group.cells) == 3
    assert probe_groups(study, "absent") == []


def test_claims_are_means_over_seeds(study) -> None:
    found = ProbeAnalysis("sharp").analyse(study)
    claims = {claim.evidence["variant"]: claim for claim in found.claims}
    assert len(found.claims) == 3 and {claim.key for claim in found.claims} == {"probe.claim"}
    assert claims["cold"].value == pytest.approx(0.8) and claims["cold"].evidence["measure"] == "sharp.best"
    assert len(claims["cold"].evidence["seeds"]) == 2 and claims["cold"].unit == "share"
    table = found.table("probe.means")
    assert table.column("variant") == ["cold", "hot", "hard"] and table.column("value") == pytest.approx([0.8, 0.3, 1])


@pytest.mark.wording
def test_the_sentence_names_the_extremes(study) -> None:
    (text,) = ProbeAnalysis("sharp").analyse(study).text
    assert "largest with `hard` (1)" in text and "smallest with `hot` (0.3)" in text and "`hot` (55)" in text


@pytest.mark.wording
def test_where_all_settings_are_alike_none_is_named_as_the_extreme(content_of) -> None:
    made = content_of({(f"sort@{name}", "none"): [30, 40] for name in SETTINGS})
    same = packed({"sharp": record("hot")})
    runs = tuple(replace(run, stored={**run.stored, **same}) for run in made.runs)
    (text,) = ProbeAnalysis("sharp").analyse(replace(made, runs=runs)).text
    assert "is 0.3 with every setting; the mean reach is 35 with every setting." in text


def test_figures_hold_every_setting_and_fit_the_schema(study) -> None:
    by_size, reach = ProbeAnalysis("sharp").analyse(study).figures
    for figure in (by_size, reach):
        assert {row["setting"] for row in figure.data["rows"]} == set(SETTINGS)
        alt.LayerChart.from_dict(dict(figure.template))
    found = {(row["setting"], row["layer"], row["size"]): row["value"] for row in by_size.data["rows"]}
    assert found["cold", 2, 60] == pytest.approx(0.7 / 3) and len(found) == 18
    points = {(row["setting"], row["seed"]): row for row in reach.data["rows"]}
    assert (points["hot", 0]["multiple"], points["hot", 0]["bound"]) == (3, "at least")
    assert points["hot", 1]["bound"] == "reach" and len(points) == 6


def test_a_study_shows_every_probe_without_being_told(study) -> None:
    records = analyse(study)
    assert "sharp" in [one.source for one in records] and "curve" not in [one.source for one in records]
    page = render(study, records)
    assert '<section id="sharp"' in page and 'href="#sharp"' in page and page.count('data-kind="sharp"') == 2


def test_a_run_that_waits_is_no_trouble(study) -> None:
    waiting = replace(study.runs[0], key="other", state="waiting", summary=None, detail={}, stored={}, variant="new")
    found = ProbeAnalysis("sharp").analyse(replace(study, runs=(*study.runs, waiting)))
    assert len(found.claims) == 3 and len(found.figures) == 2


def test_a_probe_that_nobody_asked_is_said_to_be_missing(study) -> None:
    assert ProbeAnalysis("absent").analyse(study).failed


OWN = '''"""Which tasks were learned with every seed."""

from dataclasses import dataclass

from lengthwise.analyses.analysis import Analysis
from lengthwise.messages import explain
from lengthwise.records import Claim, Column, Record, Table

explain({"own.cells": "cells in which every seed reaches {least}"})


@dataclass(frozen=True)
class EverySeed(Analysis):
    least: int = 20

    def analyse(self, study):
        rows = tuple((cell.row, cell.position, min(cell.values("reach").values())) for cell in study.cells if cell.done)
        held = sum(reach >= self.least for _, _, reach in rows)
        claim = Claim("own.cells", held, f"of {len(rows)}", "measured", evidence={"least": self.least})
        columns = (Column("task", "text"), Column("encoding", "text"), Column("reach"))
        table = Table("own.reaches", columns, rows, "least reach")
        return Record("every_seed", {}, "Every seed", ("My own answer.",), (claim,), (table,))
'''


@pytest.fixture
def own_study(tmp_path, synthetic_study):
    """A study whose analyses are one of the user's own and one of ours."""
    file = tmp_path / "my.py"
    file.write_text(OWN, encoding="utf-8")
    named = [f"{file}::EverySeed:least=30", "reach"]
    return synthetic_study(tmp_path / "own", ["sort"], ["none", "rope"], seeds=2, study={"analyses": named})


def test_an_analysis_of_ones_own_is_shown_everywhere(own_study, capsys) -> None:
    from lengthwise.cli import main

    def told(*words: str) -> str:
        capsys.readouterr()
        assert main([*words, "--trust"]) == 0
        return capsys.readouterr().out

    shown = told("study", "show", str(own_study))
    assert "Every seed" in shown and "My own answer." in shown and "least reach" in shown
    records = json.loads(told("study", "show", str(own_study), "--json"))["records"]
    assert [one["source"] for one in records] == ["every_seed", "reach"] and records[0]["settings"] == {"least": 30}
    page = told("report", str(own_study), "--quiet").strip()
    with open(page, encoding="utf-8") as file:
        text = file.read()
    assert "My own answer." in text and 'id="reach"' in text and 'id="curves"' not in text


def test_an_analysis_in_a_file_runs_only_if_it_is_trusted(own_study, capsys) -> None:
    from lengthwise.cli import main

    assert main(["study", "show", str(own_study)]) == 2
    assert "my.py" in capsys.readouterr().err


@dataclass(frozen=True)
class _Broken:
    def analyse(self, study):
        raise ZeroDivisionError("by hand")


class _Silent:
    def analyse(self, study):
        return {"no": "record"}


def test_what_is_no_record_is_refused_in_a_sentence(study, monkeypatch) -> None:
    monkeypatch.setattr("lengthwise.analyses.analysis.analyses_of", lambda _: [_Silent()])
    (found,) = analyse(study)
    assert found.failed and found.source == "_Silent"


def test_an_analysis_that_breaks_leaves_its_reason(study, monkeypatch) -> None:
    monkeypatch.setattr("lengthwise.analyses.analysis.analyses_of", lambda _: [_Broken()])
    (found,) = analyse(study)
    assert found.failed and found.source == "_Broken" and found.failed in render(study, [found])
