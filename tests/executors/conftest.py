"""What tests of executors share: a way to wait for outcomes, and jobs of the user's own."""

import textwrap
import time

import pytest


@pytest.fixture(scope="session")
def collect():
    def collect_outcomes(executor, count=1, seconds=60):
        """The next `count` outcomes by key; fails instead of waiting for ever."""
        ended = {}
        deadline = time.monotonic() + seconds
        while len(ended) < count:
            for outcome in executor.wait(1):
                assert outcome.key not in ended, f"{outcome.key} ended twice"
                ended[outcome.key] = outcome
            assert time.monotonic() < deadline, f"{executor.keys()} have not ended within {seconds} s"
        return ended

    return collect_outcomes


@pytest.fixture
def write_module(tmp_path, monkeypatch):
    """Write a module of the user's, found by the path of this process only."""

    def write(name, source):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
        monkeypatch.syspath_prepend(str(tmp_path))
        return name

    return write


@pytest.fixture(scope="session")
def appears():
    def wait_until(happened, seconds=30, what="it"):
        deadline = time.monotonic() + seconds
        while not (seen := happened()):
            assert time.monotonic() < deadline, f"{what} has not happened within {seconds} s"
            time.sleep(0.02)
        return seen

    return wait_until


@pytest.fixture(scope="session")
def alive():
    def is_alive(pid):
        """Whether a process runs; one that is dead and not yet buried does not."""
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False

    return is_alive
