"""The simulation as a film: a GIF by Pillow, or a video by ffmpeg where that is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.figures import design
from lengthwise.outputs import replace_output
from lengthwise.reports.particles.page import DRAWN
from lengthwise.reports.particles.simulation import Simulation
from lengthwise.reports.particles.view import ALONE, COLOURS, View, grid_lines, look_of, outline, viewed

SIDE = 480
_FINE = 2  # drawn so many times larger and made smaller, which smooths the edges
_SECONDS = 10.0
_REST = 1.5  # seconds for which the last moment stays
_LONGEST_TRAIL = 0.8  # a token that goes further between two moments leaves no line, which would cut the sphere
_INK, _GRID = design.value("ink"), design.value("soft")
_PAPER = (255, 255, 255)


def check_film_tools(gif: bool, video: bool) -> None:
    """Refuse a film that this machine cannot make, before any work is done for it."""
    if gif or video:
        try:
            import PIL.Image  # noqa: F401
        except ImportError:
            raise UsageError(
                "a film is drawn with Pillow, which is not installed; `pip install 'lengthwise[pdf]'` installs it"
            ) from None
    if video and shutil.which("ffmpeg") is None:
        raise UsageError("a video is made by ffmpeg, which is not installed; install it, or write a .gif instead")


def _pillow() -> Any:
    """The modules of Pillow, which films alone need."""
    from PIL import Image, ImageDraw, ImageFont

    return SimpleNamespace(Image=Image, ImageDraw=ImageDraw, ImageFont=ImageFont)


def write_gif(simulation: Simulation, path: Path) -> Path:
    """Write the film as a GIF that runs for ever, each round with a rest at its end."""
    frames = list(_frames(simulation))
    palette, dither = _palette(), _pillow().Image.Dither.NONE
    reduced = [frame.quantize(palette=palette, dither=dither) for frame in frames]
    step = max(20, round(1000 * _SECONDS / len(frames)))
    waits = [step] * (len(frames) - 1) + [round(1000 * _REST)]
    with replace_output(path) as part:
        reduced[0].save(
            part, format="GIF", save_all=True, append_images=reduced[1:], duration=waits, loop=0, optimize=False
        )
    return path


def write_video(simulation: Simulation, path: Path) -> Path:
    """Write the film as H.264 in MP4, by ffmpeg."""
    frames = list(_frames(simulation))
    rate = max(1.0, len(frames) / _SECONDS)
    frames += [frames[-1]] * round(_REST * rate)
    with replace_output(path) as part:
        source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{SIDE}x{SIDE}", "-r", f"{rate:g}", "-i", "-"]
        result = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", str(part)]
        done = subprocess.run(
            ["ffmpeg", "-loglevel", "error", "-y", *source, *result],
            input=b"".join(frame.tobytes() for frame in frames),
            capture_output=True,
        )
        if done.returncode:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
            raise UsageError(f"ffmpeg could not make the video {path}: {lines[-1]}; a .gif needs no ffmpeg")
    return path


def _palette() -> Any:
    """One palette for all frames, so that what does not move is not stored again: every colour in 16 strengths."""
    shades = [_faint(colour, level / 16) for colour in (*COLOURS, ALONE, _GRID, _INK) for level in range(1, 17)]
    flat = [part for shade in (_PAPER, *shades) for part in shade]
    palette = _pillow().Image.new("P", (1, 1))
    palette.putpalette(flat + list(_PAPER) * (256 - len(flat) // 3))
    return palette


def _frames(simulation: Simulation) -> Iterator[Any]:
    """The pictures, one per moment."""
    view, smooth = viewed(simulation.points[:, :DRAWN]), _pillow().Image.Resampling.LANCZOS
    ground = _ground(view)
    for moment in range(len(simulation.points)):
        frame = ground.copy()
        _draw_moment(frame, simulation, view, moment)
        yield frame.resize((SIDE, SIDE), smooth)


def _ground(view: View) -> Any:
    """What stays: the sphere and its grid."""
    side, tools = SIDE * _FINE, _pillow()
    ground = tools.Image.new("RGB", (side, side), _PAPER)
    pen = tools.ImageDraw.Draw(ground)
    if not view.flat:
        for run, front in sorted(grid_lines(view.rotation), key=lambda pair: pair[1]):
            pen.line(_corners(run), fill=_faint(_GRID, 0.35 if front else 0.12), width=_FINE)
    (left, top), (right, bottom) = _corners(np.array([[-1, 1], [1, -1]]))
    pen.ellipse((left, top, right, bottom), outline=_faint(_GRID, 0.9), width=_FINE)
    return ground


def _draw_moment(frame: Any, simulation: Simulation, view: View, moment: int) -> None:
    tools, measures = _pillow(), simulation.measures
    pen, groups = tools.ImageDraw.Draw(frame), measures.groups[moment]
    back = max(0, moment - max(4, round(len(view.points) / 12)))
    seen = view.points[back : moment + 1] @ view.rotation.T
    order = np.argsort(seen[-1, :, 2], kind="stable")
    for token in order:
        colour = ALONE if groups[token] < 0 else look_of(int(groups[token]))[0]
        for step in range(1, len(seen)):
            if np.linalg.norm(seen[step, token] - seen[step - 1, token]) > _LONGEST_TRAIL:
                continue
            fresh = step / len(seen) * (0.6 if seen[step, token, 2] >= 0 else 0.2)
            pen.line(_corners(seen[step - 1 : step + 1, token]), fill=_faint(colour, fresh), width=_FINE)
    size = 4.6 * np.sqrt(64 / max(64, len(order))) + 0.8
    for token in order:
        _draw_token(pen, seen[-1, token], int(groups[token]), size)
    count = int(measures.components[moment])
    text = f"t = {measures.times[moment]:.1f}   {count} group{'' if count == 1 else 's'}"
    title = simulation.title.replace("β", "beta")  # Pillow's own font has Latin letters alone
    font = tools.ImageFont.load_default(size=15 * _FINE)
    pen.text((12 * _FINE, 8 * _FINE), title, fill=_INK, font=font)
    pen.text((12 * _FINE, (SIDE - 26) * _FINE), text, fill=_INK, font=font)


def _draw_token(pen: Any, place: np.ndarray, group: int, size: float) -> None:
    strength = 1.0 if place[2] >= 0 else 0.35
    across, down = _corners(place[None])[0]
    if group < 0:
        reach = 0.75 * size * _FINE
        box = (across - reach, down - reach, across + reach, down + reach)
        pen.ellipse(box, outline=_faint(ALONE, strength), width=round(1.5 * _FINE))
        return
    colour, shape = look_of(group)
    corners = [(across + _FINE * x, down - _FINE * y) for x, y in outline(shape, size)]
    pen.polygon(corners, fill=_faint(colour, strength))


def _corners(points: np.ndarray) -> list[tuple[float, float]]:
    """Places on the unit disc as places in the picture."""
    middle, radius = SIDE * _FINE / 2, 0.42 * SIDE * _FINE
    return [(middle + radius * float(point[0]), middle - radius * float(point[1])) for point in points]


def _faint(colour: str, strength: float) -> tuple[int, int, int]:
    """A colour mixed with the paper; GIF knows no half transparency."""
    parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    red, green, blue = (
        round(strength * part + (1 - strength) * white) for part, white in zip(parts, _PAPER, strict=True)
    )
    return red, green, blue
