"""Figures are drawn in a process of their own, which stays for the next one.

vl-convert runs the engine of a browser inside its process: where memory is refused, as below `ulimit -v`, the engine
ends that process by a signal, and while it draws nothing else is heard. So it has a process to itself, whose end is an
error in one sentence here, and Ctrl-C ends it at once.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from importlib.resources import files
from typing import Any

from lengthwise.errors import LengthwiseError, UsageError

MOST = 64 << 20  # bytes of a figure with its data; a tenth of that takes the better part of a minute
_lock = threading.Lock()
_drawers: dict[int, subprocess.Popen[bytes]] = {}  # by the process that started it: a fork has none


def svg_of(spec: Any) -> str:
    """A figure in Vega-Lite, as a mapping or as text, drawn as SVG."""
    return _asked("vegalite_to_svg", _text(spec)).decode()


def png_of(spec: Any) -> bytes:
    """The same as PNG, two pixels for each of its units."""
    return _asked("vegalite_to_png", _text(spec), scale=2)


def png_of_svg(svg: str) -> bytes:
    return _asked("svg_to_png", svg, scale=2)


def pdf_of_svg(svg: str) -> bytes:
    return _asked("svg_to_pdf", svg)


def vega_bundle() -> str:
    """Vega, Vega-Lite and their embedding as one script."""
    return _asked("javascript_bundle").decode()


def _text(spec: Any) -> str:
    return spec if isinstance(spec, str) else json.dumps(spec)


def _asked(call: str, text: str | None = None, **settings: Any) -> bytes:
    """What a function of vl-convert gives for a text. An error of it is a defect of the figure, its end is not."""
    given = b"" if text is None else text.encode()
    if len(given) > MOST:
        raise UsageError(
            f"the figure has {len(given) >> 20} MB of data, and at most {MOST >> 20} MB are drawn; ask for fewer points"
        )
    with _lock:
        drawer = _drawer()
        try:
            answer, content = _exchanged(drawer, {"call": call, "settings": settings, "text": text is not None}, given)
        except (OSError, EOFError, ValueError):
            _end(drawer)
            raise UsageError(f"the figure could not be drawn: {_how(drawer.returncode)}") from None
        except BaseException:  # Ctrl-C: what it is drawing is wanted no more
            _end(drawer)
            raise
    if "error" in answer:
        raise LengthwiseError(f"the figure could not be drawn: {answer['error']}")
    return content


def _exchanged(drawer: subprocess.Popen[bytes], asked: dict[str, Any], given: bytes) -> tuple[dict[str, Any], bytes]:
    assert drawer.stdin is not None and drawer.stdout is not None
    drawer.stdin.write(json.dumps({**asked, "size": len(given)}).encode() + b"\n" + given)
    drawer.stdin.flush()
    line = drawer.stdout.readline()
    if not line:
        raise EOFError
    answer = json.loads(line)
    content = drawer.stdout.read(answer["size"])
    if len(content) < answer["size"]:
        raise EOFError
    return answer, content


def _drawer() -> subprocess.Popen[bytes]:
    """The process of this one that draws."""
    found = _drawers.get(os.getpid())
    if found is None or found.poll() is not None:
        script = str(files("lengthwise.figures").joinpath("drawer.py"))
        found = subprocess.Popen(
            [sys.executable, "-P", script, json.dumps([entry for entry in sys.path if entry])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C reaches this process, which ends the other
        )
        _drawers[os.getpid()] = found
        atexit.register(_end, found)
    return found


def _end(drawer: subprocess.Popen[bytes]) -> None:
    if _drawers.get(os.getpid()) is not drawer:
        return
    del _drawers[os.getpid()]
    with contextlib.suppress(subprocess.TimeoutExpired):
        drawer.wait(0.2)  # it may be about to end by itself, and then it says how
    drawer.kill()
    drawer.wait()
    for pipe in (drawer.stdin, drawer.stdout):
        with contextlib.suppress(OSError):
            if pipe:
                pipe.close()


def _how(code: int | None) -> str:
    name = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
    return f"the process that draws ended ({name}), probably for want of memory; is there a limit, as `ulimit -v` sets?"
