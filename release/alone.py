"""Try the wheel in dist/ in an environment of its own: `python release/alone.py [--pages]`.

The environment is new and empty. It gets the files of release/locked.txt, checked by hash, and the wheel; then `pip
check`, the smoke tests and the bill of materials (dist/lengthwise-VERSION.cdx.json) run. With --pages the tutorial and
the README are carried out there as written, too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from archives import DIST, ROOT, epoch

HERE = ROOT / "release"
PAGES = ("docs/tutorial/index.md", "README.md")


def run(*words: str | Path, **environment: str) -> None:
    done = subprocess.run([str(word) for word in words], env={**os.environ, **environment})
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(map(str, words))}")


def main(pages: bool) -> None:
    (wheel,) = DIST.glob("*.whl")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / "bin" / "python"
        pip = (python, "-I", "-m", "pip", "--disable-pip-version-check")
        run(*pip, "install", "-q", "--no-deps", "--require-hashes", "-r", HERE / "locked.txt")
        run(*pip, "install", "-q", "--no-deps", "--no-index", wheel)
        run(*pip, "check")
        run(python, "-I", HERE / "smoke.py")
        (site,) = (folder / "env").glob("lib/python*/site-packages")
        bill = DIST / f"{'-'.join(wheel.name.split('-')[:2])}.cdx.json"
        run(sys.executable, HERE / "materials.py", site, bill, SOURCE_DATE_EPOCH=epoch())
        if pages:
            run(sys.executable, HERE / "pages.py", python, folder / "work", *(ROOT / page for page in PAGES))


if __name__ == "__main__":
    main("--pages" in sys.argv[1:])
