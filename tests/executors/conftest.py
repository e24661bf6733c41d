"""What tests of executors share: a way to wait for outcomes, and jobs of the user's own."""

import textwrap
import time

import pytest

from processes import PATIENCE


@pytest.fixture(scope="session")
def collect():
    def collect_outcomes(executor, count=1, seconds=PATIENCE):
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
