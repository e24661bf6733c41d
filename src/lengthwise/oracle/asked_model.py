"""The models that are not our Transformer, as the oracle knows them: their settings, and how large their state is.

The settings are those of `lengthwise.models`, which cannot be imported here; a test keeps them equal.
"""

from __future__ import annotations

from dataclasses import field, make_dataclass
from typing import Any

from lengthwise.registry import converted_settings, parse_spec

BITS = 32  # of a number in the state
_SHAPE = {"depth": 2, "width": 64, "heads": 4}
_PARTS = {"attention": "softmax", "position": "none"}
_USUAL: dict[str, dict[str, Any]] = {
    "lstm": {"depth": 1, "width": 64},
    "gru": {"depth": 1, "width": 64},
    "ssm": {**_SHAPE, "state": 16, "negative": False, "convolution": 0, "mlp_ratio": 4},
    "delta": {**_SHAPE, "order": 1, "negative": False, "gate": False, "convolution": 0, "mlp_ratio": 4},
    "looped": {**_SHAPE, "depth": 1, "loops": "size", "mlp_ratio": 4, "inject": True, **_PARTS},
}
_CLASSES = {
    name: make_dataclass(
        f"Asked{name.title()}",
        [(key, int | str if key == "loops" else type(one), field(default=one)) for key, one in usual.items()],
    )
    for name, usual in _USUAL.items()
}


def asked_model(text: str) -> tuple[str, dict[str, Any]]:
    """The name of a model and all its settings; none of those that the oracle does not know.

    >>> asked_model("lstm:width=32")
    ('lstm', {'depth': 1, 'width': 32})
    """
    name, given = parse_spec(text)
    if name not in _USUAL:
        return name, {}
    return name, {**_USUAL[name], **converted_settings("model", name, _CLASSES[name], given)}


def state_numbers(name: str, settings: dict[str, Any]) -> int:
    """How many numbers a model keeps of what it has read."""
    depth, width = settings["depth"], settings["width"]
    if name in ("lstm", "gru"):
        return depth * width * (2 if name == "lstm" else 1)
    rows = settings["state"] if name == "ssm" else width // settings["heads"]
    # A convolution over c tokens keeps the last c - 1 keys, values and queries, of at most 3 rows and widths.
    return depth * (width * rows + max(0, settings["convolution"] - 1) * 3 * width * max(1, settings.get("order", 1)))
