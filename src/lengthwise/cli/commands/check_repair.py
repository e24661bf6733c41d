"""What `lengthwise check --repair` does: search a layout with the same answers that fewer windows settle."""

from __future__ import annotations

import argparse
from pathlib import Path

from lengthwise.cli.output import wrapped, write_list, write_object, written
from lengthwise.errors import CertificateRefused, UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.repairs.original import load_broken
from lengthwise.oracle.locality.repairs.search import Repair, repair
from lengthwise.outputs import write_output
from lengthwise.progress import shown

_OTHERS = ("position", "model", "train_size", "test_size", "items", "decoder", "program", "explain", "against")
_UNDRAWN = ("figure", "page", "seed")
explain(
    {
        "repair.trying": "candidate {step}: {what}",
        "repair.title": "{name}: {how}",
        "repair.chain": "A chain of the repaired layout",
        "repair.use_out": "--out layout.py writes the repaired layout; check, train and measure it with --formulation.",
        "repair.not_found": "no repair was found for {name}; that does not mean that there is none",
    }
)


def run_repair(options: argparse.Namespace, spec: str | dict[str, object] | None) -> int:
    for name in (*_OTHERS, *_UNDRAWN, "regex", "dfa", "data"):
        if getattr(options, name) not in (None, False):
            raise UsageError(f"--{name.replace('_', '-')} cannot be used with --repair")
    if (spec is None) == (options.formulation is None):
        raise UsageError("--repair takes one layout of steps: a name such as addition_appended, or --formulation FILE")
    if options.out is not None and not options.out.endswith(".py"):
        raise UsageError(f"a repaired layout is a Python file, so --out ends in .py, not {options.out!r}")
    with shown(quiet=options.quiet) as told:
        broken = load_broken(options.formulation if spec is None else spec, spec is None)
        found = repair(
            broken, lambda done, step, _: told(sentence("repair.trying", {"step": step, "what": done}), 0, 1)
        )
    if options.out is not None and found.repaired is not None:
        with written(options.out, options.quiet, "layout"):
            write_output(Path(options.out), found.repaired.source)
    if options.json:
        write_object("check", {"repair": found.plain()})
    else:
        _write(found, options.out is None)
    if found.needed and found.repaired is None:
        raise CertificateRefused(sentence("repair.not_found", {"name": found.name}))
    return 0


def _write(found: Repair, unwritten: bool) -> None:
    if found.repaired is None:
        print("\n".join(map(wrapped, found.explain())))
        return
    print(wrapped(sentence("repair.title", {"name": found.name, "how": found.repaired.how}), "", "  "))
    write_list(found.explain(), "- ", "  ")
    print(f"\n{sentence('repair.chain')}")
    for line in found.repaired.example:
        print(f"    {line}")
    if unwritten:
        print(f"\n{wrapped(sentence('repair.use_out'))}")
