"""A record that a network file system shows later than its worker said that it is done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lengthwise.errors import UsageError
from lengthwise.studies import coordinator


@pytest.mark.parametrize("patience, found", [(60.0, "the record"), (-1.0, None)])
def test_it_is_waited_for_and_not_for_ever(monkeypatch: pytest.MonkeyPatch, patience: float, found: str | None) -> None:
    looks: list[Path] = []

    def read(place: Path) -> Any:
        looks.append(place)
        if len(looks) < 3:
            raise UsageError("there is no run.json")
        return "the record"

    monkeypatch.setattr(coordinator, "read_finished", read)
    monkeypatch.setattr(coordinator, "_LATE", patience)
    monkeypatch.setattr(coordinator.time, "sleep", lambda _: None)
    sitting = object.__new__(coordinator._Sitting)
    sitting.folder = Path("study")
    if found:
        assert sitting._finished("key") == found and len(looks) == 3
    else:
        with pytest.raises(UsageError, match="there is no"):
            sitting._finished("key")
        assert len(looks) == 1
