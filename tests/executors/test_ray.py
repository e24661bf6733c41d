"""Ray: the contract on a cluster of two node processes, one of which is then killed under a job."""

import importlib.util
import os
import signal
import socket
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from lengthwise.errors import UsageError
from lengthwise.executors import Job, executors
from lengthwise.executors.luggage import write_files
from lengthwise.testing.executors import check_executor
from processes import alive, wait_until

pytestmark = pytest.mark.system

needs_ray = pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="Ray is not installed")

WHERE = """
import os, pathlib, time
import ray

def job(folder, go):
    node = ray.get_runtime_context().get_node_id()
    path = pathlib.Path(folder) / node
    path.with_suffix(".new").write_text(str(os.getpid()))
    path.with_suffix(".new").rename(path)
    while not pathlib.Path(go).exists():
        time.sleep(0.02)
    return [node, os.environ["OMP_NUM_THREADS"], os.getcwd()]
"""


@pytest.fixture(scope="module")
def cluster():
    """Two nodes of one CPU each: a head, and one that can be lost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        cluster.second = cluster.add_node(num_cpus=1)
        yield cluster
        cluster.shutdown()


@needs_ray
def test_keeps_the_contract(cluster, capfd):
    before = signal.getsignal(signal.SIGTERM)
    check_executor(lambda: executors.make(f"ray:address={cluster.address}"))
    assert signal.getsignal(signal.SIGTERM) == before, "the caller's SIGTERM is left alone"
    assert capfd.readouterr().out == "", "nothing is printed where results go"


@needs_ray
def test_killed_node_is_an_outcome_and_the_job_ends_on_the_other(cluster, collect, write_module, tmp_path):
    call = f"{write_module('on_a_ray_node', WHERE)}:job"
    lost = cluster.second.node_id
    with executors.make(f"ray:address={cluster.address}") as executor:
        assert executor.slots == 2
        for key in "ab":
            executor.submit(Job(key, call, {"folder": str(tmp_path), "go": str(tmp_path / "go")}))
        wait_until((tmp_path / lost).exists, "a job on the second node")
        pid = int((tmp_path / lost).read_text())
        cluster.remove_node(cluster.second, allow_graceful=False)
        wait_until(lambda: not alive(pid), "the end of the job there")
        (tmp_path / "go").touch()
        ended = collect(executor, 2)
        kinds = {key: outcome.kind for key, outcome in ended.items()}
        assert sorted(kinds.values()) == ["died", "done"], ended
        (dead,) = [key for key, kind in kinds.items() if kind == "died"]
        assert "node" in ended[dead].reason and "NodeDiedError" in ended[dead].reason and "\n" not in ended[dead].reason
        executor.submit(Job(dead, call, {"folder": str(tmp_path), "go": str(tmp_path / "go")}))
        node, threads, folder = collect(executor)[dead].value
        assert node != lost and threads == "1" and folder == os.getcwd()
        wait_until(lambda: executor.slots == 1, "the loss of a slot")


@needs_ray
@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:99999", "ray://127.0.0.1:10001", "127.0.0.1:port"])
def test_address_that_is_none_is_refused(address):
    with pytest.raises(UsageError, match="Ray"), executors.make(f"ray:address={address}"):
        pass


@needs_ray
def test_address_where_nothing_listens_is_refused_before_ray_tries_it(monkeypatch):
    """Ray would try for minutes."""
    import ray

    monkeypatch.setattr(ray, "init", lambda **_: pytest.fail("Ray was asked"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    with (
        pytest.raises(UsageError, match=f"no Ray cluster answers at {address}"),
        executors.make(f"ray:address={address}"),
    ):
        pass


def test_without_ray_there_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'lengthwise\[ray\]'"), executors.make("ray"):
        pass


# --- nodes that share no file system ----------------------------------------------------------------------------------

APART = """
import pathlib, time

def job(folder, name):
    place = pathlib.Path(folder)
    before = {path.name: path.read_text() for path in place.iterdir()}
    (place / "below").mkdir()
    (place / "below" / "first").write_text("1")
    (place / ".hidden").write_text("stays there")
    for old in before:
        (place / old).unlink()
    (place / "last").write_text(name)
    return [str(place), before]

def until_told(folder):
    place = pathlib.Path(folder)
    (place / "kept").write_text("half")
    try:
        while True:
            time.sleep(0.02)
    finally:
        (place / "saved").write_text("when it was asked to stop")
"""


@needs_ray
def test_files_travel_with_a_job_and_back_where_nodes_share_nothing(collect, write_module, tmp_path):
    module, folder = write_module("apart_on_ray", APART), tmp_path / "here"
    folder.mkdir()
    (folder / "old").write_text("from before")
    with executors.make("ray:shared=false") as executor:
        executor.submit(Job("a", f"{module}:job", {"name": "x"}, tmp_path / "beat", folder))
        outcome = collect(executor)["a"]
        assert outcome.kind == "done", outcome
        there, before = outcome.value
        assert not there.startswith(str(tmp_path)) and not os.path.exists(there)
        assert before == {"old": "from before"}
        found = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
        assert found == {"below/first": "1", "last": "x"}
        others = _begun()  # those of a run that was killed
        executor.submit(Job("b", f"{module}:until_told", folder=tmp_path / "stopped"))
        wait_until(lambda: executor.wait(0.1) == [] and _begun() - others, "the second job")
        executor.stop()
        (stopped,) = executor.wait(0)
    assert stopped.kind == "stopped"
    assert (tmp_path / "stopped").exists(), f"what it had is lost: {stopped.reason}"
    assert {path.name for path in (tmp_path / "stopped").iterdir()} == {"kept", "saved"}, "what it had is not lost"


def _begun() -> set[Path]:
    """What jobs have written in their folders on the node."""
    return {*Path(tempfile.gettempdir()).glob("lengthwise-*/job/kept")}


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", ".lock", "a/.x", ""])
def test_a_file_comes_back_into_its_folder_and_nowhere_else(name, tmp_path):
    with pytest.raises(UsageError):
        write_files(tmp_path / "here", {"fine": b"", name: b"bad"})
    assert not (tmp_path / "here").exists() and not (tmp_path / "x").exists()


@needs_ray
def test_gpus_are_asked_of_ray():
    assert executors.make("ray:gpus=0.25")._request()["num_gpus"] == 0.25
    assert "num_gpus" not in executors.make("ray")._request()
    for wrong in ("-1", "1.5", "nan"):
        with pytest.raises(UsageError):
            executors.make(f"ray:gpus={wrong}")


@pytest.mark.parametrize(("there", "slots"), [({"CPU": 8, "GPU": 1}, 4), ({"CPU": 2, "GPU": 4}, 2), ({"CPU": 8}, 0)])
def test_a_slot_is_a_cpu_and_its_share_of_a_gpu(there, slots):
    executor = executors.make("ray:gpus=0.25")
    executor._ray = SimpleNamespace(cluster_resources=lambda: there)
    assert executor.slots == slots and executor.gives_gpus
