"""The atlas: what is written reads back, what is damaged is refused, and a study gathers into it."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lengthwise as lw
from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas, AtlasRun, TaskFacts, facts_of, load_atlas, save_atlas
from lengthwise.evidence.atlas import SHIPPED, SIGNALS
from lengthwise.evidence.gather import gather_atlas, plan_of
from lengthwise.evidence.task_facts import group_of
from lengthwise.integrity import sealed
from lengthwise.probes.curve.standard import wilson
from lengthwise.runs.run import carry_out
from lengthwise.studies.spec import Study
from lengthwise.tasks import tasks

FACTS = TaskFacts("counting", None, 2, "answer", 0.0)
RUN = AtlasRun(
    task="binary_majority",
    group="named",
    facts=FACTS,
    position="none",
    verdict="can",
    settings={"depth": 1},
    train_size=4,
    seed=0,
    learned=True,
    sizes=(1, 4, 8, 32),
    exact=(1.0, 1.0, 0.987, 0.5),
    items=100,
    signals={"margin": (3.0, 2.0, 1.23, 0.1), "confidence": (1.0, 0.9, 0.8, 0.5)},
    losses=(0.7, 0.1),
)
FILE = SHIPPED["atlas"]
SMALL = Atlas(
    (RUN, AtlasRun(**{**vars(RUN), "position": "alibi", "verdict": "unknown", "learned": False})), {"depth": 2}
)


def test_it_reads_back_equal_and_is_written_alike(tmp_path: Path) -> None:
    one, two = tmp_path / "one.json.gz", tmp_path / "two.json.gz"
    save_atlas(SMALL, one)
    save_atlas(load_atlas(one), two)
    assert load_atlas(one) == SMALL and one.read_bytes() == two.read_bytes()


def test_selection_takes_values_collections_and_facts() -> None:
    assert [run.position for run in SMALL.select(learned=True).runs] == ["none"]
    assert len(SMALL.select(position=("none", "alibi"), oracle_class="counting")) == 2
    assert not SMALL.select(readout="tag").runs and SMALL.select(seed=0).defaults == SMALL.defaults
    with pytest.raises(UsageError, match="no field 'positions'"):
        SMALL.select(positions="none")


def test_a_table_has_one_row_per_run_and_size() -> None:
    rows = SMALL.table().records()
    assert len(rows) == 8 and rows[2]["exact"] == 0.987 and rows[2]["margin"] == 1.23 and rows[2]["entropy"] is None


@pytest.mark.parametrize(("multiple", "found"), [(1, 1.0), (2, 0.987), (3, 0.987), (4, None), (8, 0.5), (100, None)])
def test_exact_match_at_a_multiple_is_measured_near_it(multiple: float, found: float | None) -> None:
    assert RUN.exact_at(multiple) == found


def test_damage_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / FILE
    with pytest.raises(UsageError, match="cannot be read"):
        load_atlas(path)
    save_atlas(SMALL, path)
    whole = path.read_bytes()
    content = json.loads(gzip.decompress(whole))
    other = sealed({**content, "schema": 99})
    forged = {**content, "runs": {**content["runs"], "learned": [True, True]}}
    for bad, words in (
        (whole[:-20], r"^(?!the atlas).*cannot be unpacked"),  # what it was to be is not known
        (b"nothing", r"^(?!the atlas).*cannot be unpacked"),
        (gzip.compress(b"[1, 2]"), "damaged"),
        (gzip.compress(json.dumps(forged).encode()), "checksum"),
        (gzip.compress(json.dumps(other).encode()), "schema 99"),
    ):
        path.write_bytes(bad)
        with pytest.raises(UsageError, match=words) as caught:
            load_atlas(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "facts", "group"),
    [
        ("tomita_4", ("positions", 4, 2, "tag", 1.0, 2), "named"),
        ("random_language:seed=26", ("counting", 4, 2, "tag", 1.0, 2), "language"),
        ("parity", ("neither", None, 2, "answer", 0.0), "named"),
        ("sort", ("counting", None, 64, "sequence", 1.0), "named"),
        ("simple_task", ("counting", None, 2, "number", 0.0), "named"),
    ],
)
def test_facts_of_a_task(name: str, facts: tuple, group: str) -> None:
    task = tasks.make(name)
    assert facts_of(task) == TaskFacts(*facts) and group_of(task) == group
    assert group_of(tasks.make("induction")) == group_of(tasks.make("needle")) == "retrieval"
    assert group_of(tasks.make("parity_columns")) == "steps"


def test_facts_of_a_task_with_one_size(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text('{"input": "a b", "answer": "a"}\n{"input": "b a", "answer": "b"}\n')
    facts = facts_of(tasks.make(f"jsonl:path={path}"))
    assert facts.readout == "answer" and facts.answer_length == 0 and facts.alphabet == 2


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder of a small study, and the atlas of it."""
    folder, path = tmp_path_factory.mktemp("study"), tmp_path_factory.mktemp("atlas") / FILE
    small = {
        "model": {"model": ["transformer:depth=1,width=16,heads=1", "lstm:width=8"]},
        "training": {"steps": 3, "batch": 4},
    }
    study = Study(
        "small",
        ["tomita_4", "parity"],
        ["none", "rope"],
        train_size=4,
        test_size=32,
        items=5,
        probes=["curve:grid=geometric", "signals:items=2"],
        override=[{"task": "parity", "training": {"steps": 4}}],
        exclude=[{"model": "lstm:width=8", "position": "rope"}, {"model": "lstm:width=8", "task": "parity"}],
        **small,
    )
    lw.run_study(study, folder / "small", "local:workers=1")
    gather_atlas(folder / "small", path)
    return folder / "small", path


@pytest.mark.system
def test_a_study_gathers_into_an_atlas(gathered: tuple[Path, Path]) -> None:
    folder, path = gathered
    atlas = load_atlas(path)
    assert len(atlas) == 5 and atlas.tasks == ("tomita_4", "parity") and atlas.defaults["width"] == 16
    assert atlas.designs == ("none", "lstm:width=8", "rope")
    for run, stored in zip(atlas.runs, lw.open_study(folder).runs, strict=True):
        curve, own = stored.curve, {name: value for name, value in stored.settings.items() if name != "model"}
        assert run.sizes == (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
        assert run.exact == tuple(round(point.exact, 3) for point in curve.points)
        assert set(run.signals) == set(SIGNALS if run.model == "transformer" else SIGNALS[:2])
        everything = {**atlas.defaults, **run.settings}
        assert {name: value for name, value in everything.items() if value is not None} == own
        assert plan_of(run, atlas).digest() == stored.detail["digest"]
    before = path.read_bytes()
    assert gather_atlas(folder, path) == 5 and path.read_bytes() == before


def all_settings(run: AtlasRun, atlas: Atlas) -> dict[str, Any]:
    return {**atlas.defaults, **run.settings}


@pytest.mark.system
def test_gathering_adds_to_what_the_file_has(gathered: tuple[Path, Path], tmp_path: Path) -> None:
    """Runs of other plans stay, with their settings; of equal plans the study's run counts."""
    folder, whole = gathered[0], load_atlas(gathered[1])
    path = tmp_path / FILE
    stale = replace(whole.runs[1], exact=(0.0,) * len(whole.runs[1].exact), settings=all_settings(whole.runs[1], whole))
    before = Atlas((*SMALL.runs, stale), {**whole.defaults, "rate": 0.01})
    save_atlas(before, path)
    assert gather_atlas(folder, path) == 7
    merged = load_atlas(path)
    assert merged.defaults["rate"] != 0.01, "most runs have another rate now"
    for old, new in zip(SMALL.runs, merged.select(task="binary_majority").runs, strict=True):
        assert plan_of(new, merged) == plan_of(old, before)
    for run in whole.runs:
        (same,) = [one for one in merged.runs if plan_of(one, merged) == plan_of(run, whole)]
        assert (same.exact, same.signals, same.verdict) == (run.exact, run.signals, run.verdict)


def test_the_atlas_of_the_package() -> None:
    """It is small, and languages stand in the class that theory gives them."""
    path, atlas = Path(lw.evidence.__file__).parent / "data" / FILE, load_atlas()
    assert path.stat().st_size < 2_000_000 and len(atlas) >= 1200 and len(atlas.tasks) >= 60 and len(atlas.designs) > 10
    some = random.Random(0).sample([run for run in atlas.runs if run.group == "language"], 5)
    assert all(facts_of(tasks.restore(run.task)) == run.facts for run in some)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_run_of_a_shipped_atlas_is_complete(name: str) -> None:
    atlas = load_atlas(name)
    assert {run.learned for run in atlas.runs} == {True, False}, "runs that were not learned are there too"
    for run in atlas.runs:
        many = len(run.sizes)
        assert len(run.exact) == many and all(len(values) == many for values in run.signals.values())
        inside = [value for size, value in zip(run.sizes, run.exact, strict=True) if size <= run.train_size]
        assert run.learned == (min(inside) >= 0.95) and len(run.losses) >= 2


def test_the_zoo_has_models_and_rules_and_is_no_part_of_the_atlas() -> None:
    zoo, rows = load_atlas("zoo"), load_atlas("zoo").table().records()
    assert {"lstm", "ssm:depth=1", "delta:depth=1,negative=True"} <= {run.model for run in zoo.runs}
    assert {"softmax", "ssmax", "asentmax"} <= {row["attention"] for row in rows}
    assert not {(run.task, run.design, run.seed) for run in zoo.select(task="parity").runs} & {
        (run.task, run.design, run.seed) for run in load_atlas().runs
    }


@pytest.mark.slow
def test_a_random_handful_of_runs_comes_out_again(tmp_path: Path) -> None:
    """Trained again on whatever processor this is, so that some sizes may differ: most agree within their intervals."""
    atlas, agree, total = load_atlas(), 0, 0
    for number, run in enumerate(random.SystemRandom().sample(atlas.runs, 4)):
        again = carry_out(plan_of(run, atlas), tmp_path / str(number)).curve
        for size, exact in zip(run.sizes, run.exact, strict=True):
            new, old = again.at(size).interval, wilson(round(exact * run.items), run.items)
            agree, total = agree + (new.low <= old.high and old.low <= new.high), total + 1
    assert agree >= 0.8 * total
