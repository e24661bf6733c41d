"""Make the pictures of README.md: `python docs/make_pictures.py [heatmap|curve|tokens ...]`.

The heat map and the curve are drawn from the atlas, which ships with the package. The film shows the page that
`lengthwise particles` writes, as Chromium draws it; that one needs Playwright and Pillow (`pip install -e '.[dev]'`).
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lengthwise as lw
from lengthwise.cli import main as lengthwise
from lengthwise.evidence.atlas import AtlasRun
from lengthwise.figures.drawing import svg_of
from lengthwise.figures.style import PALETTE, PAPER_INK, alt, config
from lengthwise.probes.curve.standard import wilson
from lengthwise.reports.particles.view import COLOURS

PICTURES = Path(__file__).parent / "pictures"
BAR = 0.95  # exact match from which a size counts as held
FEWEST = 4  # encodings that must have learned a task for it to have a row
CURVE_TASK, CURVE_ENCODINGS = "dyck_1", ("learned", "alibi", "learned+offset", "rope", "fire")
SIMULATION = ["--beta", "9", "--d", "3", "--n", "64", "--time", "40", "--frames", "120"]
WINDOW = {"width": 800, "height": 900}
ROOM = 8  # pixels around the sphere with its legend and slider, which is what the film shows
MOMENTS = [*range(30), *range(30, 120, 3), 119]  # most happens at the beginning
STEP, REST = 110, 1800  # milliseconds of a picture, and of the last one


def reach_in_lengths(run: AtlasRun) -> float:
    """The largest measured size up to which exact match stays at 95 % or more, in training lengths."""
    reached = 0
    for size, exact in zip(run.sizes, run.exact, strict=True):
        if exact < BAR:
            break
        reached = size
    return reached / run.train_size


def heatmap() -> dict[str, Any]:
    """How far each named task of the atlas holds with each encoding, as Vega-Lite."""
    runs = [run for run in lw.atlas().select(model="transformer", seed=0).runs if run.group != "language"]
    learned = {
        task: sum(run.learned for run in runs if run.task == task) for task in dict.fromkeys(r.task for r in runs)
    }
    rows = [
        {
            "task": run.task,
            "encoding": run.position.replace(":limit=512", ""),
            "reach": reach_in_lengths(run) if run.learned else None,
            "text": _lengths(run) if run.learned else "not learned",
        }
        for run in runs
        if learned[run.task] >= FEWEST
    ]
    # Tasks and encodings that hold farthest come first.
    tasks = _by_reach(rows, "task")
    encodings = _by_reach(rows, "encoding")
    bare = {"domain": False, "ticks": False, "grid": False, "labelFontSize": 12}
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("encoding:N", title=None, sort=encodings, axis=alt.Axis(orient="top", labelAngle=-35, **bare)),
        y=alt.Y("task:N", title=None, sort=tasks, axis=alt.Axis(labelPadding=8, **bare)),
    )
    colour = alt.Color(
        "reach:Q",
        scale=alt.Scale(type="log", base=2, scheme="viridis", domain=[1, 8]),
        legend=alt.Legend(title=["reach ÷", "training length"], values=[1, 2, 4, 8], gradientLength=160),
    )
    cells = base.transform_filter("datum.reach != null").mark_rect(cornerRadius=2, stroke="white").encode(color=colour)
    ink = alt.condition("datum.reach >= 3", alt.value("#000000"), alt.value("#ffffff"))
    numbers = base.transform_filter("datum.reach != null").mark_text(fontSize=12).encode(text="text:N", color=ink)
    empty = base.transform_filter("datum.reach == null").mark_text(fontSize=12, color="#999999", text="–")
    chart = alt.layer(cells, numbers, empty).properties(width={"step": 52}, height={"step": 25})
    return _on_paper(chart, {"left": 20, "top": 8, "bottom": 8, "right": 20})


def _lengths(run: AtlasRun) -> str:
    reach = reach_in_lengths(run)
    return f"{'≥' if reach * run.train_size == run.sizes[-1] else ''}{reach:.3g}"


def _by_reach(rows: list[dict[str, Any]], column: str) -> list[str]:
    total: dict[str, float] = {}
    for row in rows:
        total[row[column]] = total.get(row[column], 0.0) + (row["reach"] or 0.0)
    return sorted(total, key=lambda name: (-total[name], name))


def curve() -> dict[str, Any]:
    """Exact match by size of one task of the atlas with some encodings, as Vega-Lite."""
    runs = {run.position: run for run in lw.atlas().select(task=CURVE_TASK, model="transformer", seed=0).runs}
    rows = []
    for encoding in CURVE_ENCODINGS:
        run = runs[encoding]
        for size, exact in zip(run.sizes, run.exact, strict=True):
            between = wilson(round(exact * run.items), run.items)
            rows.append({"encoding": encoding, "size": size, "exact": exact, "low": between.low, "high": between.high})
    trained = runs[CURVE_ENCODINGS[0]].train_size
    names = list(CURVE_ENCODINGS)
    ticks = alt.Axis(values=list(range(0, 161, trained)))
    x = alt.X("size:Q", title="length of the input", scale=alt.Scale(nice=False, domain=[0, 160]), axis=ticks)
    y = alt.Y("exact:Q", title="exact match", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    legend = alt.Legend(title=None, orient="right", symbolType="stroke", symbolOpacity=1, labelFontSize=12)
    colour = alt.Color(
        "encoding:N", sort=names, scale=alt.Scale(domain=names, range=PALETTE[: len(names)]), legend=legend
    )
    base = alt.Chart(alt.Data(values=rows))
    band = base.mark_area(opacity=0.14).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    lines = base.mark_line(strokeWidth=2.2, point=alt.OverlayMarkDef(size=22)).encode(x=x, y=y, color=colour)
    range_ = alt.Chart(alt.Data(values=[{"from": 0, "to": trained, "label": "trained"}]))
    shade = range_.mark_rect(color="#888888", opacity=0.16).encode(x="from:Q", x2="to:Q")
    word = range_.mark_text(align="left", dx=4, fontSize=11, color="#666666").encode(
        x="from:Q", y=alt.value(230), text="label:N"
    )
    bar = alt.Chart(alt.Data(values=[{"bar": BAR}])).mark_rule(strokeDash=[4, 4], color="#888888").encode(y="bar:Q")
    chart = alt.layer(shade, word, bar, band, lines).properties(width=520, height=240)
    return _on_paper(chart, {"left": 10, "top": 8, "bottom": 8, "right": 30})


def _on_paper(chart: Any, room: dict[str, int]) -> dict[str, Any]:
    """A chart that can be read on a dark page too, with room for the wider fonts of other machines."""
    return {**chart.to_dict(), "config": config(PAPER_INK), "background": "white", "padding": room}


def svg(chart: Callable[[], dict[str, Any]]) -> str:
    return svg_of(chart())


def film(path: Path, browser: Any) -> None:
    """The page of `lengthwise particles`, moment by moment, as a GIF with one palette."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        page_file = Path(folder) / "tokens.html"
        with contextlib.redirect_stdout(io.StringIO()):  # the page is all that is wanted
            code = lengthwise(["particles", *SIMULATION, "--page", str(page_file), "--quiet"])
        if code:
            raise SystemExit(code)
        context = browser.new_context(viewport=WINDOW, color_scheme="light")
        page = context.new_page()
        page.goto(page_file.as_uri())
        top, end = (page.locator(name).bounding_box() for name in ("#sphere", "#moment"))
        high = end["y"] + end["height"] - top["y"] + 3 * ROOM
        shown = {"x": 0, "y": top["y"] - ROOM, "width": WINDOW["width"], "height": high}
        pictures = []
        for moment in MOMENTS:
            page.locator("#moment").evaluate(
                "(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input')); }", moment
            )
            pictures.append(Image.open(io.BytesIO(page.screenshot(clip=shown))).convert("RGB"))
        context.close()
    palette = _palette(pictures[0])
    reduced = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    waits = [STEP] * (len(reduced) - 1) + [REST]
    reduced[0].save(path, save_all=True, append_images=reduced[1:], duration=waits, loop=0, optimize=True)


def _film_in_chromium(path: Path) -> None:
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        raise SystemExit("there is no Chromium on this machine, which the film is made with")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=["--headless", "--no-sandbox"])
        film(path, browser)
        browser.close()


def _palette(picture: Any) -> Any:
    """One palette for all pictures, so that what does not move is not stored again: the colours of tokens in twelve
    strengths, and whatever else the first picture needs."""
    from PIL import Image

    paper = picture.getpixel((40, 40))
    parts = [[int(colour[place : place + 2], 16) for place in (1, 3, 5)] for colour in COLOURS]
    shades = [
        round(level / 12 * ink + (1 - level / 12) * back)
        for colour in parts
        for level in range(1, 13)
        for ink, back in zip(colour, paper, strict=True)
    ]
    others = picture.quantize(256 - len(shades) // 3, kmeans=2).getpalette()
    palette = Image.new("P", (1, 1))
    palette.putpalette([*shades, *others][: 3 * 256])
    return palette


CHARTS = {"heatmap": heatmap, "curve": curve}


def main(names: list[str]) -> None:
    for name in names or [*CHARTS, "tokens"]:
        if name in CHARTS:
            (PICTURES / f"{name}.svg").write_text(svg(CHARTS[name]), encoding="utf-8")
        elif name == "tokens":
            _film_in_chromium(PICTURES / "tokens.gif")
        else:
            raise SystemExit(f"there is no picture {name}; there are {', '.join([*CHARTS, 'tokens'])}")


if __name__ == "__main__":
    main(sys.argv[1:])
