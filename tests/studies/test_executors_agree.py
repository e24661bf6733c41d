"""The same study gives the same curves wherever it runs, and is complete even if a node is lost on the way."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lengthwise.executors import Job
from lengthwise.probes.curve.curve import Curve
from lengthwise.studies import shifts
from lengthwise.studies.coordinator import StudyProgress, carry_out_study
from lengthwise.studies.spec import Study
from lengthwise.studies.store import Store

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="Ray is not installed"),
]

STUDY = Study(
    name="agree", tasks=["binary_majority", "sort:alphabet=20"], positions=["none", "learned+offset"], seeds=2,
    train_size=4, test_size=8, items=20, model={"depth": 1, "width": 16, "heads": 1}, training={"steps": 60},
    override=[{"task": "sort:alphabet=20", "probes": ["ladder:items=4,decoded=2,inside=2"]}],
)  # fmt: skip


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one CPU each: a head, and one that can be lost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        cluster.second = cluster.add_node(num_cpus=1)  # pyright: ignore[reportAttributeAccessIssue]
        yield cluster
        cluster.shutdown()


@pytest.fixture(autouse=True)
def few_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shifts, "ITEMS", 20)


def ladders(folder: Path) -> dict[str, bytes]:
    """The ladders of the runs, and how far their levels are from training, as they lie on disk."""
    files = [*folder.glob("runs/*/records/ladder-*.json"), folder / "shifts.json"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def curves(folder: Path) -> dict[str, Curve]:
    with Store.open(folder) as store:
        return {run.key: run.curve for run in store.runs("done")}


def test_ray_with_two_nodes_and_local_workers_give_the_same_curves(cluster: Any, tmp_path: Path) -> None:
    here = carry_out_study(STUDY, tmp_path / "local", "local:workers=2")
    there = carry_out_study(STUDY, tmp_path / "ray", f"ray:address={cluster.address}")
    assert here.done == there.done == 8
    assert curves(tmp_path / "local") == curves(tmp_path / "ray")
    assert ladders(tmp_path / "local") == ladders(tmp_path / "ray") and len(ladders(tmp_path / "ray")) == 5
    for run in (tmp_path / "local" / "runs").iterdir():
        weights = [(place / "model.safetensors").read_bytes() for place in (run, tmp_path / "ray" / "runs" / run.name)]
        assert weights[0] == weights[1]


def test_a_node_lost_on_the_way_leaves_the_study_complete(cluster: Any, tmp_path: Path) -> None:
    lost: list[str] = []

    def lose_a_node(progress: StudyProgress) -> None:
        if progress.done == 2 and not lost:
            lost.append(cluster.second.node_id)
            cluster.remove_node(cluster.second, allow_graceful=False)

    progress = carry_out_study(STUDY, tmp_path / "ray", f"ray:address={cluster.address}", lose_a_node)
    assert lost and (progress.done, progress.failed, progress.waiting) == (8, 0, 0)
    carry_out_study(STUDY, tmp_path / "local", "local:workers=1")
    assert curves(tmp_path / "local") == curves(tmp_path / "ray")
    assert ladders(tmp_path / "local") == ladders(tmp_path / "ray") and len(ladders(tmp_path / "ray")) == 5


def test_nodes_with_separate_folders_return_what_they_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each node has a folder of its own for temporary files, and nothing that is sent to one names the study's."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    nodes = [tmp_path / "node-1", tmp_path / "node-2"]
    sent: list[str] = []
    plain = Job.text

    def text(job: Job, apart: bool = False) -> str:
        if apart:
            sent.append(plain(job, apart))
        return plain(job, apart)

    monkeypatch.setattr(Job, "text", text)
    used: set[str] = set()

    def look(_: StudyProgress) -> None:
        used.update(node.name for node in nodes if any(node.glob("lengthwise-*/job/plan.json")))

    for node in nodes:
        node.mkdir()
    first, second = ({"num_cpus": 1, "env_vars": {"TMPDIR": str(node)}} for node in nodes)
    cluster = Cluster(initialize_head=True, head_node_args={**first, "include_dashboard": False})
    try:
        cluster.add_node(**second)
        there = carry_out_study(STUDY, tmp_path / "ray", f"ray:address={cluster.address},shared=false", look)
    finally:
        cluster.shutdown()
    here = carry_out_study(STUDY, tmp_path / "local", "local:workers=2")
    assert here.done == there.done == 8
    assert used == {"node-1", "node-2"} and not [*tmp_path.glob("node-*/lengthwise-*/job/*")]
    assert len(sent) == 9 and not any(str(tmp_path) in one for one in sent), "8 runs and the distances of a task"
    assert curves(tmp_path / "local") == curves(tmp_path / "ray")
    assert ladders(tmp_path / "local") == ladders(tmp_path / "ray") and len(ladders(tmp_path / "ray")) == 5
    for run in (tmp_path / "local" / "runs").iterdir():
        other = tmp_path / "ray" / "runs" / run.name
        assert (run / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes()
        assert {path.name for path in run.iterdir()} == {path.name for path in other.iterdir()}
