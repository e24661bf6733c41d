"""Ask pip-audit whether a locked package has a known vulnerability: `python release/audit.py [--required]`.

pip-audit also succeeds when it could look up nothing, so this counts what was looked up. Exit code 1: a vulnerability
is known. With --required, packages that could not be looked up are a failure too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

LOCKED = Path(__file__).parent / "locked.txt"


@dataclass(frozen=True)
class Audit:
    """What became of each package: `skipped` and `vulnerable` say why, by name."""

    audited: tuple[str, ...]
    skipped: dict[str, str]
    vulnerable: dict[str, tuple[str, ...]]

    @classmethod
    def read(cls, text: str) -> Audit:
        """From the JSON of pip-audit."""
        packages = json.loads(text)["dependencies"]
        skipped = {package["name"]: package["skip_reason"] for package in packages if "skip_reason" in package}
        looked_up = [package for package in packages if package["name"] not in skipped]
        found = {package["name"]: tuple(one["id"] for one in package["vulns"]) for package in looked_up}
        return cls(tuple(found), skipped, {name: ids for name, ids in found.items() if ids})

    def __str__(self) -> str:
        lines = [f"audited {len(self.audited)} of {len(self.audited) + len(self.skipped)} packages"]
        lines += [f"VULNERABLE {name}: {', '.join(ids)}" for name, ids in self.vulnerable.items()]
        if self.skipped:
            name, reason = next(iter(self.skipped.items()))
            lines.append(f"NOT AUDITED: {', '.join(self.skipped)} ({name}: {reason})")
        return "\n".join(lines)


def main(required: bool) -> int:
    asked = ["pip_audit", "--disable-pip", "--require-hashes", "--format=json", "--progress-spinner=off"]
    done = subprocess.run([sys.executable, "-m", *asked, "-r", str(LOCKED)], capture_output=True, text=True)
    try:
        audit = Audit.read(done.stdout)
    except (ValueError, KeyError):
        why = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        print(f"NOT AUDITED: pip-audit could not run: {why}")
        return int(required)
    print(audit)
    return int(bool(audit.vulnerable) or (required and bool(audit.skipped)))


if __name__ == "__main__":
    sys.exit(main("--required" in sys.argv[1:]))
