"""How long `lengthwise --help` takes against a bare Python, and that neither it nor the import loads torch."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from rows import Row, standalone

TARGET = 6.0
LOADED = "import sys; print(sum(name.split('.')[0] == 'torch' for name in sys.modules))"
IMPORT = f"import lengthwise; {LOADED}"
HELP = f"from lengthwise.cli import main; main(['--help']); {LOADED}"


def torch_modules(code: str) -> int:
    """How many modules of torch are loaded in a new Python after this code."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


def commands() -> dict[str, list[str]]:
    """The ways to ask for help: the module, and the script where it is installed beside this Python."""
    found = {"python -m lengthwise --help": [sys.executable, "-m", "lengthwise", "--help"]}
    script = Path(sys.executable).parent / ("lengthwise.exe" if sys.platform == "win32" else "lengthwise")
    if script.exists():
        found["lengthwise --help"] = [str(script), "--help"]
    return found


def medians(asked: dict[str, list[str]], repetitions: int) -> dict[str, float]:
    """Seconds of each command, taken by turns."""
    seconds: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(repetitions):
        for name, command in asked.items():
            began = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            seconds[name].append(time.perf_counter() - began)
    return {name: statistics.median(values) for name, values in seconds.items()}


def rows(quick: bool = False, repetitions: int | None = None) -> list[Row]:
    bare = "python -c pass"
    asked = {bare: [sys.executable, "-c", "pass"], **commands()}
    taken = medians(asked, repetitions or (5 if quick else 20))
    result = [
        Row("modules of torch after import lengthwise", torch_modules(IMPORT), "", most=0),
        Row("modules of torch after lengthwise --help", torch_modules(HELP), "", most=0),
    ]
    for name in commands():
        ratio = taken[name] / taken[bare]
        result.append(Row(name, taken[name], "s", taken[bare], bare, ratio, most=TARGET))
    return result


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
