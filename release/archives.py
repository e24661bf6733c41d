"""Build the sdist and the wheel of the last commit: `python release/archives.py`, with `pip install -e '.[release]'`.

Both are built twice, from two copies of the tracked files that differ in place, in the modes of their files and in the
seed of hashes, and must be equal byte by byte. The wheel holds every tracked file of the package and nothing else. What
was built goes to dist/, with its checksums in SHA256SUMS.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def tracked(folder: str = "") -> list[str]:
    """The files of the last commit below a folder."""
    listed = _git("ls-tree", "-r", "-z", "--name-only", "HEAD", *([folder] if folder else []))
    return [name for name in listed.decode().split("\0") if name]


def epoch() -> str:
    """The time that archives carry: that of the last commit."""
    return os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct").decode().strip()


def built(place: Path, seed: int, mask: int) -> dict[str, bytes]:
    """What `python -m build` makes of the last commit, copied to `place`: files by name."""
    place.mkdir()
    with tarfile.open(fileobj=io.BytesIO(_git("archive", "--format=tar", "HEAD"))) as files:
        files.extractall(place)
    for path in place.rglob("*"):
        path.chmod(path.stat().st_mode & ~mask)
    done = subprocess.run(
        [sys.executable, "-W", "default", "-m", "build", "--no-isolation", "--outdir", "made", "."],
        cwd=place,
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch(), "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
    )
    said = done.stdout + done.stderr
    if done.returncode or re.search("warning", said, re.IGNORECASE):
        raise SystemExit(f"{said}\nthe build failed or warned")
    return {path.name: path.read_bytes() for path in sorted((place / "made").iterdir())}


def unlike(wheel: bytes, package: list[str], shared: list[str]) -> list[str]:
    """Files that are in the wheel or ought to be, but not both: those of the package, and those for share/."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as opened:
        inside = {name for name in opened.namelist() if ".dist-info/" not in name}
    inside = {re.sub(r"^[^/]+\.data/data/", "", name) for name in inside}
    return sorted(inside ^ {*(name.removeprefix("src/") for name in package), *shared})


def shared_files() -> list[str]:
    """Where the manual and the shells' completions go in an environment."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [*settings["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"].values()]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        first = built(Path(folder) / "first", seed=1, mask=0o022)
        second = built(Path(folder) / "second, elsewhere", seed=2, mask=0o077)
    if different := [name for name in {*first, *second} if first.get(name) != second.get(name)]:
        raise SystemExit(f"two builds differ: {', '.join(sorted(different))}")
    (wheel,) = [content for name, content in first.items() if name.endswith(".whl")]
    if odd := unlike(wheel, tracked("src/lengthwise"), shared_files()):
        raise SystemExit(f"the wheel and the package differ: {', '.join(odd)}")
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in first.items()}
    for name, content in first.items():
        (DIST / name).write_bytes(content)
        print(f"{sums[name]}  {name}: {len(content):,} bytes, built twice and equal")
    (DIST / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()), encoding="utf-8")


def _git(*words: str) -> bytes:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True)
    if done.returncode:
        raise SystemExit(f"a release is built from a clone: git {words[0]}: {done.stderr.decode().strip()}")
    return done.stdout


if __name__ == "__main__":
    main()
