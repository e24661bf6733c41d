"""The folder of a bound: what is finished stays finished.

request.json    the digest of what was asked for; a folder refuses anything else
message.bin     the model as it is charged (none for a GGUF file, which is its own message)
message.json    its description
losses-*.npz    the losses, a stretch of the data each, written whole
bound.json      the bounds, written last
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.files import read_json, replace_file, write_json, writing
from lengthwise.guarantees.description import Description
from lengthwise.guarantees.statistics import Statistics
from lengthwise.seeds import Ints

REQUEST, MESSAGE, DESCRIPTION, BOUND = "request.json", "message.bin", "message.json", "bound.json"
OPTION = "--output"  # of the command, which chooses the folder


def digest_of(request: Mapping[str, object]) -> str:
    """Eight characters that change when anything that decides the losses does."""
    text = json.dumps(request, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


class Store:
    """The folder, made when it is not there."""

    def __init__(self, folder: Path, request: Mapping[str, object]) -> None:
        self.folder = folder
        with writing(folder, OPTION):
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / REQUEST).exists():
                stored = read_json(folder / REQUEST)
                if not isinstance(stored, dict) or stored.get("digest") != digest_of(request):
                    what = _difference(stored.get("request", {}) if isinstance(stored, dict) else {}, request)
                    raise UsageError(f"{folder} holds another bound ({what} differs); give another --output")
            elif any(folder.iterdir()):
                raise UsageError(f"{folder} holds other files; give --output a new or empty folder")
            else:
                write_json(folder / REQUEST, {"digest": digest_of(request), "request": dict(request)})

    def description(self) -> Description | None:
        """What was written of the model; None where nothing was yet."""
        path = self.folder / DESCRIPTION
        if not path.exists():
            return None
        try:
            return Description.from_plain(read_json(path))
        except (KeyError, TypeError) as error:
            raise UsageError(f"{path} is not the description of a message ({error}); give another --output") from error

    def message(self) -> bytes:
        try:
            return (self.folder / MESSAGE).read_bytes()
        except OSError as error:
            raise UsageError(
                f"{self.folder / MESSAGE} cannot be read: {error.strerror}; give another --output"
            ) from None

    def write_description(self, described: Description, message: bytes | None) -> None:
        with writing(self.folder, OPTION):
            if message is not None:
                with replace_file(self.folder / MESSAGE) as part:
                    part.write_bytes(message)
            write_json(self.folder / DESCRIPTION, described.plain())

    def losses(self, number: int) -> tuple[Statistics, Ints] | None:
        """The losses of a stretch; None where they are not there, or not whole."""
        path = self._place(number)
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return Statistics(*(arrays[name] for name in Statistics._fields)), arrays["documents"]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None  # half a file, from elsewhere: it is made again

    def write_losses(self, number: int, statistics: Statistics, documents: Ints) -> None:
        with writing(self.folder, OPTION), replace_file(self._place(number)) as part, part.open("wb") as file:
            np.savez(file, **statistics._asdict(), documents=documents)

    def write_bound(self, content: Mapping[str, Any]) -> None:
        with writing(self.folder, OPTION):
            write_json(self.folder / BOUND, dict(content))

    def _place(self, number: int) -> Path:
        return self.folder / f"losses-{number:05}.npz"


def _difference(stored: Mapping[str, object], asked: Mapping[str, object]) -> str:
    plain = json.loads(json.dumps(dict(asked), default=str))
    different = [key for key in plain if stored.get(key) != plain[key]]
    return f"its {different[0]}" if different else "its version"
