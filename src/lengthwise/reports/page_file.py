"""The file of a page: whole or not there, and one sentence where it cannot be."""

from __future__ import annotations

from pathlib import Path

from lengthwise.errors import UsageError
from lengthwise.outputs import check_output, write_output


def write_page_file(path: Path, text: str, noun: str = "page") -> Path:
    """Write a page, whole or not at all; the path it was written to. A user knows it as `noun`."""
    check_output(path)
    try:
        write_output(path, text)
    except OSError as error:
        raise UsageError(
            f"cannot write the {noun} {path}: {error.strerror or error}; give it a file in a folder that exists"
        ) from error
    return path
