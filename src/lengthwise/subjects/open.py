"""The one way to open a subject."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.models.hub_folder import CONFIG
from lengthwise.subjects.endpoint import SCHEME, open_endpoint
from lengthwise.subjects.hub import HubSubject
from lengthwise.subjects.python import is_python, open_python, subject_of_object
from lengthwise.subjects.run import is_own, open_own
from lengthwise.subjects.subject import Subject
from lengthwise.subjects.symbols import Tokens


def open_subject(model: str | Path | Any, tokens: Tokens | None = None) -> Subject:
    """The subject of a run folder, a Hub folder, a GGUF file, a Python file of the user's, a server, or an object.

    Weights are read from safetensors or GGUF files only; nothing is downloaded or unpickled and no code of a model is
    run. A text such as "my.py::build" names a Python file, which runs; a `Path` never does.
    "openai:http://127.0.0.1:8000/v1,model=NAME" is a model behind a server (`subjects.endpoint`). `tokens` says which
    tokens of a model of `transformers` the symbols of a task are (`subjects.symbols`), so that it can answer.

    >>> open_subject("runs/sort-rope-s0-1234abcd").capability("transformer")        # doctest: +SKIP
    """
    subject = _opened(model)
    if tokens is not None:
        if not isinstance(subject, HubSubject):
            raise UsageError(f"a token map is for models of transformers, and {subject.name} is not one")
        subject.tokens = tokens
    return subject


def _opened(model: str | Path | Any) -> Subject:
    if isinstance(model, str) and model.startswith(f"{SCHEME}:"):
        return open_endpoint(model)
    if isinstance(model, str) and is_python(model):
        return open_python(model)
    if not isinstance(model, str | Path):
        return subject_of_object(model)
    path = Path(model)
    if not path.exists():
        raise UsageError(
            f"there is no {path}; give the folder of a run, a folder with config.json and safetensors, or a GGUF file"
        )
    if path.is_dir() and is_own(path):
        return open_own(path)
    return HubSubject(path if path.is_file() or (path / CONFIG).exists() else _only_gguf(path))


def _only_gguf(folder: Path) -> Path:
    found = sorted(folder.glob("*.gguf"))
    if len(found) != 1:
        raise UsageError(
            f"{folder} is not a model: it has neither a config.json nor exactly one GGUF file ({len(found)} are there)"
            "; give the folder of a run, a folder with config.json and safetensors, or a GGUF file"
        )
    return found[0]
