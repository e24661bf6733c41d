"""Altair and vl-convert, which take a second to import: they are imported when the first chart is made, not before."""

from __future__ import annotations

import importlib
from typing import Any


class _Lazy:
    """A module that is imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


alt: Any = _Lazy("altair")
vl_convert: Any = _Lazy("vl_convert")
