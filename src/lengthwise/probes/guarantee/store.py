"""The folder of a bound: finished work is kept, and everything that changed since is computed again.

request.json    the request: the model, the data and the settings; a folder refuses anything else
message.bin     the model as it is charged (none for a GGUF file, which is its own message)
message.json    its description; the bits are counted from message.bin whenever it is read
losses-*.npz    the losses, one file per stretch of the data
bound.json      the bounds, written last

The description and the losses carry a checksum of their content, of the request and of the message, and losses also of
the tokens they belong to. Where it does not fit, they are not used: half a file, an edit, or the losses of another
model, tokenizer or text are computed again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.bounds.compression.message import bits_by_part
from lengthwise.errors import UsageError
from lengthwise.files import read_json, replace_file, write_json, writing
from lengthwise.probes.guarantee.losses import Stretch, TokenStatistics
from lengthwise.probes.guarantee.message import ChargedMessage
from lengthwise.reading import ARRAY_FAULTS, MOST_DATA, open_file, read_bytes

REQUEST, MESSAGE, DESCRIPTION, BOUND = "request.json", "message.bin", "message.json", "bound.json"


def digest_of(request: Mapping[str, object]) -> str:
    """Eight characters that change when anything that decides the losses does."""
    return hashlib.blake2b(_text(request), digest_size=4).hexdigest()


class BoundFolder:
    """The folder, made when it is not there."""

    def __init__(self, folder: Path, request: Mapping[str, object]) -> None:
        self.folder, self._asked, self._charged = folder, _text(request), _hash()
        plain = json.loads(self._asked)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / REQUEST).exists():
                stored = read_json(folder / REQUEST)
                before = stored.get("request") if isinstance(stored, dict) else None
                if before != plain:
                    known = before if isinstance(before, dict) else {}
                    what = next((key for key in plain if known.get(key) != plain[key]), "settings")
                    raise UsageError(f"{folder} holds another bound (its {what} differs); choose another folder")
            elif any(folder.iterdir()):
                raise UsageError(f"{folder} holds other files; choose a new or empty folder")
            else:
                write_json(folder / REQUEST, {"request": plain})

    def description(self) -> tuple[ChargedMessage, bytes] | None:
        """What was written of the model, and its message; None where they are not there, or not as they were written.
        The bits are those of the message, whatever its description says."""
        try:
            message, plain = read_bytes(self.folder / MESSAGE, MOST_DATA), read_json(self.folder / DESCRIPTION)
            self._charged = _hash(message)
            if plain.pop("sha256") != self._mark(_text(plain)):
                return None
            described = ChargedMessage.from_plain(plain)
            parts = bits_by_part(message)
        except (OSError, UsageError, LookupError, TypeError, AttributeError):
            return None
        return dataclasses.replace(described, bits=sum(parts.values()), parts=parts), message

    def write_description(self, described: ChargedMessage, message: bytes | None) -> None:
        self._charged = _hash(message or b"")
        plain = described.plain()
        with writing(self.folder):
            if message is not None:
                with replace_file(self.folder / MESSAGE) as part:
                    part.write_bytes(message)
            write_json(self.folder / DESCRIPTION, {**plain, "sha256": self._mark(_text(plain))})

    def losses(self, number: int, stretch: Stretch) -> TokenStatistics | None:
        """The losses of a stretch; None where they are not there, not whole, or of anything but this stretch."""
        try:
            with open_file(self._place(number)) as file, np.load(file, allow_pickle=False) as arrays:
                found = TokenStatistics(*(arrays[name] for name in TokenStatistics._fields))
                mark = str(arrays["sha256"])
        except (UsageError, zipfile.BadZipFile, *ARRAY_FAULTS):
            return None
        return found if mark == self._mark_of_losses(number, stretch, found) else None

    def write_losses(self, number: int, stretch: Stretch, found: TokenStatistics) -> None:
        mark = self._mark_of_losses(number, stretch, found)
        with writing(self.folder), replace_file(self._place(number)) as part, part.open("wb") as file:
            np.savez(file, **found._asdict(), sha256=np.array(mark))

    def write_bound(self, content: Mapping[str, Any]) -> None:
        with writing(self.folder):
            write_json(self.folder / BOUND, dict(content))

    def _mark_of_losses(self, number: int, stretch: Stretch, found: TokenStatistics) -> str:
        parts = [f"{number} {stretch.digest()}".encode()]
        for name, array in found._asdict().items():
            parts += [f"{name} {array.dtype} {array.shape}".encode(), np.ascontiguousarray(array).tobytes()]
        return self._mark(*parts)

    def _mark(self, *parts: bytes) -> str:
        """A checksum of the request, of the message that is charged, and of `parts`."""
        return _hash(self._asked, self._charged, *parts).hex()

    def _place(self, number: int) -> Path:
        return self.folder / f"losses-{number:05}.npz"


def _hash(*parts: bytes) -> bytes:
    """A hash of parts, each with its length before it."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return found.digest()


def _text(content: Mapping[str, object]) -> bytes:
    return json.dumps(dict(content), sort_keys=True, default=str).encode()
