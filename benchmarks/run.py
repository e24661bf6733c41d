"""All benchmarks in one table; the exit code is 1 when a target is missed.

The figures go to runs/bench/results.json with the versions and the load of the machine. Run it on an idle machine:
a process that uses all cores suffers more from a neighbour than one that uses a single core.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import sys
from pathlib import Path

from rows import Row, load, missed, write_table

from lengthwise.errors import LengthwiseError
from lengthwise.runs.environment import environment

BENCHMARKS = (
    "startup",
    "waiting",
    "sampling_speed",
    "search_traces",
    "evaluation_speed",
    "training_speed",
    "models_speed",
    "study_speed",
    "transport_speed",
    "crasp_decision",
    "locality_speed",
    "thoughts_speed",
    "particles_speed",
    "sinkhorn_speed",
    "rule_speed",
    "compression_speed",
    "prompts",
    "view_speed",
)
PEERS = ("transformers", "accelerate", "x-transformers", "POT", "numba", "lm_eval", "fla-core")
RESULTS = Path(__file__).resolve().parent.parent / "runs" / "bench" / "results.json"


def version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small counts: do they run?")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=BENCHMARKS, help="some of the benchmarks")
    options = parser.parse_args()
    rows: list[Row] = []
    busy = load()
    for name in options.only:
        print(f"running {name}", file=sys.stderr)
        try:
            rows += importlib.import_module(name).rows(options.quick)
        except LengthwiseError as error:
            print(f"benchmark {name}: {error}", file=sys.stderr)
            return error.exit_code
    where = {**environment(), "peers": {name: version(name) for name in PEERS}, "load_before": busy}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    content = {"schema": 1, "quick": options.quick, "environment": where, "rows": [row.plain() for row in rows]}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    write_table(rows, busy)
    return missed(rows)


if __name__ == "__main__":
    sys.exit(main())
