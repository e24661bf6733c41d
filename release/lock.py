"""Write release/locked.txt: the packages that lengthwise needs, pinned as in constraints.txt, with the SHA-256 of every
file that the index has for them: `python release/lock.py [WHEEL ...]`, with `pip install -e '.[release]'`.

`pip install --no-deps --require-hashes -r release/locked.txt` then installs exactly these files, and refuses others.
Packages for accelerators are left out, so on Linux this means a build of torch without CUDA; its hash is added by
naming the wheel. Wheels that were named before keep their hashes as long as their version stays.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKED = ROOT / "release" / "locked.txt"
ACCELERATORS = ("cuda-", "nvidia-", "triton")
HEAD = """\
# Written by `python release/lock.py`, which says how to use it. Remarks name wheels that did not come from the index.
"""


def pins(text: str) -> dict[str, tuple[str, list[str]]]:
    """The version and the hashes of each package in a requirements file."""
    found = {}
    for line in re.sub(r"[ \t]*\\\n\s*", " ", text).splitlines():
        if match := re.match(r"([\w.-]+)==([\w.+]+)", line):
            found[plain(match[1])] = (match[2], re.findall(r"--hash=sha256:([0-9a-f]{64})", line))
    return found


def plain(name: str) -> str:
    """The name of a package as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def named(text: str) -> dict[str, str]:
    """The wheels named in the remarks of the file, with their hashes."""
    return dict(re.findall(r"^# (\S+\.whl) sha256:([0-9a-f]{64})$", text, re.MULTILINE))


def written(locked: dict[str, tuple[str, list[str]]], wheels: dict[str, str]) -> str:
    lines = [HEAD, *(f"# {wheel} sha256:{digest}\n" for wheel, digest in sorted(wheels.items()))]
    for name, (version, hashes) in sorted(locked.items()):
        own = [digest for wheel, digest in wheels.items() if is_of(wheel, name, version)]
        every = (f" \\\n    --hash=sha256:{digest}" for digest in sorted({*hashes, *own}))
        lines.append(f"{name}=={version}{''.join(every)}\n")
    return "".join(lines)


def is_of(wheel: str, name: str, version: str) -> bool:
    """Whether a wheel is a build of this version; `2.13.0+cpu` is one of 2.13.0."""
    package, its = wheel.split("-")[:2]
    return plain(package) == name and its.partition("+")[0] == version


def resolved() -> dict[str, tuple[str, list[str]]]:
    command = ["uv", "pip", "compile", "--quiet", "--no-config", "--universal", "--generate-hashes", "--no-annotate"]
    asked = [*command, "--no-header", "--constraints", "constraints.txt", "pyproject.toml"]
    done = subprocess.run([sys.executable, "-m", *asked], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"the packages could not be resolved: {done.stderr.strip()}")
    return {name: pin for name, pin in pins(done.stdout).items() if not name.startswith(ACCELERATORS)}


def main(files: Iterable[str]) -> None:
    locked = resolved()
    before = named(LOCKED.read_text(encoding="utf-8")) if LOCKED.exists() else {}
    kept = {
        wheel: digest for wheel, digest in before.items() if any(is_of(wheel, n, v) for n, (v, _) in locked.items())
    }
    for path in map(Path, files):
        with path.open("rb") as opened:
            kept[path.name] = hashlib.file_digest(opened, "sha256").hexdigest()
    LOCKED.write_text(written(locked, kept), encoding="utf-8")
    print(f"{LOCKED.relative_to(ROOT)}: {len(locked)} packages, {sum(len(h) for _, h in locked.values())} hashes")


if __name__ == "__main__":
    main(sys.argv[1:])
