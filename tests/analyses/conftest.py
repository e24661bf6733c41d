"""Studies of any shape without training, for the analyses."""

from __future__ import annotations

from pathlib import Path

import pytest

from paper_studies import content_of, told

__all__ = ["content_of", "told"]


@pytest.fixture(scope="session")
def study(tmp_path_factory, synthetic_study) -> Path:
    """A study of the usual shape: two tasks, three encodings, three seeds, one failed run."""
    return synthetic_study(tmp_path_factory.mktemp("studies") / "usual", ["sort", "(aa)*"])
