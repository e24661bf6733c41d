"""The model that a user's layout is trained with: attention limited to the windows that settle its steps."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.own import examinable, load_formulation, settle_own
from lengthwise.reading import stamp_of
from lengthwise.tasks.formulations.between import Side
from lengthwise.tasks.formulations.own import OwnLayout

WIDE = 5  # columns of a window that one layer reads; a wider one takes two
NARROW = {"depth": 1, "steps": 1000}
# One layer reads the window of a column and finds other columns by what they hold; a second one computes what a single
# MLP was stuck at on some seeds, such as digit + digit + carry (docs/findings/log.md).
MATCHING = {"depth": 2, "heads": 8}
explain(
    {
        "layout.one_window": "{path}: one window of {r} columns settles every step in the states up to size {up_to}, "
        "so attention is {attention} in {layers}",
        "layout.windows": "{path}: {n} windows of {r} columns settle every step in the states up to size {up_to}, so "
        "attention is {attention} in {layers}: most heads see a window, and the others find a column by its content",
        "layout.unrefuted": "{path}: no two states up to size {up_to} contradict that one window of {r} columns "
        "settles every step, but there are too few to say that it does; attention is {attention} in {layers}",
        "layout.no_windows": "{path}: no number of windows was found that settles every step, so attention is not "
        "limited, and nothing is known about longer states",
        "layout.one_layer": "1 layer",
        "layout.layers": "{depth} layers",
    }
)


@dataclass(frozen=True)
class LayoutModel:
    """`side` is where changes are put that could be in several places, `window` the (n, r) that was found, and
    `settings` the settings of a model, with an attention rule by its spec; `note` says so."""

    side: Side
    window: tuple[int, int] | None
    settings: Mapping[str, Any]
    note: str


def layout_model(task: OwnLayout) -> LayoutModel:
    """What the steps of a layout are trained with unless the user says otherwise."""
    task.source  # noqa: B018  # refuses a file that may not run, before anything here reads it
    found = _layout_model(task.path, "", stamp_of(task.path))
    return found if task.side in ("", found.side) else _layout_model(task.path, task.side, stamp_of(task.path))


@functools.lru_cache(maxsize=16)
def _layout_model(path: str, side: str, stamp: tuple[int, ...]) -> LayoutModel:  # noqa: ARG001
    own = load_formulation(path)
    if side and own.other is not None:
        own = replace(own, steps=own.steps if side == "left" else own.other, other=None)
    own, sizes, further = examinable(own)
    found, steps = settle_own(own, sizes, further=further)
    chosen: Side = "right" if side == "right" or (own.other is not None and steps is own.other) else "left"
    best = found.best or next((one for one in found.by_width if one.thin and one.n == 1), None)
    if best is None or best.n is None:
        return LayoutModel(chosen, None, {}, sentence("layout.no_windows", {"path": path}))
    n, r = best.n, best.r
    reach = r // 2 + 1
    if n == 1:
        settings: dict[str, Any] = {"attention": f"window:size={reach}", **(NARROW if r <= WIDE else {"depth": 2})}
    else:
        settings = {"attention": f"window_match:size={max(reach, 2)},match=4", **MATCHING}
    depth = settings["depth"]
    layers = sentence("layout.one_layer" if depth == 1 else "layout.layers", {"depth": depth})
    values = {"path": path, "n": n, "r": r, "up_to": best.up_to, "layers": layers, **settings}
    key = "unrefuted" if found.best is None else "one_window" if n == 1 else "windows"
    return LayoutModel(chosen, (n, r), settings, sentence(f"layout.{key}", values))
