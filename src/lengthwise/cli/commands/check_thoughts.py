"""What `lengthwise check --data` does with chains of thought: windows, conflicts by line, and gaps of a test file."""

from __future__ import annotations

import argparse
from pathlib import Path

from lengthwise.cli.output import narrate, wrapped, write_list, write_object, written
from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.thoughts.findings import Findings, examine
from lengthwise.oracle.locality.thoughts.reading import holds_chains, read_chains, splitting, tokenising
from lengthwise.outputs import replace_output
from lengthwise.progress import shown
from lengthwise.reading import lines_in, open_file

_RULES = ("split", "tokenise", "test_data")
_OTHERS = ("position", "model", "train_size", "test_size", "items", "program", "explain", "against", "repair")
_UNDRAWN = ("figure", "page", "seed")
_SHOWN = 20  # conflicts that are printed
explain(
    {
        "thoughts.title": "{name}: {chains:,} chains with {steps:,} steps; steps by {split!r}, tokens by {tokens!r}",
        "thoughts.as_decoder": "Each step is read from everything before it in its chain, and is predicted as a whole.",
        "thoughts.as_steps": "Each step is read from the step before it alone; --decoder reads it from everything "
        "before.",
        "thoughts.none_found": "No two places with the same window of {width} columns differ.",
        "thoughts.faults": (
            "Conflicts at windows of {width}, {count:,} in all. Few places are affected, so either these "
            "lines are wrong or the window is too narrow for them."
        ),
        "thoughts.many": "No width examined comes close to settling the steps; conflicts at windows of {width}, "
        "{count:,} in all, of which these are some.",
        "thoughts.no_gaps": "there is nothing to write to {name}: training shows every window of the test file",
    }
)


def is_about_chains(options: argparse.Namespace) -> bool:
    """Whether the options are about chains of thought: a rule for them is given, or the data are such records."""
    if options.data is None:
        for name in _RULES:
            if getattr(options, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} goes with --data, a file with chains of thought")
        return False
    return any(getattr(options, name) is not None for name in _RULES) or holds_chains(options.data)


def run_thoughts(options: argparse.Namespace) -> int:
    for name in (*_OTHERS, *_UNDRAWN, "task", "formulation", "regex", "dfa", "size_column", "size_rule", "axis"):
        if getattr(options, name) not in (None, False):
            what = "TASK" if name == "task" else f"--{name.replace('_', '-')}"
            raise UsageError(f"{what} cannot be used with chains of thought")
    if options.out is not None and options.test_data is None:
        raise UsageError("--out writes the test records that close gaps, so it needs --test-data")
    if options.out is not None and not options.out.endswith(".jsonl"):
        raise UsageError(f"test records are JSON lines, so --out ends in .jsonl, not {options.out!r}")
    rules = options.split or "lines", options.tokenise or "words"
    split, tokens = splitting(rules[0]), tokenising(rules[1])
    with shown(quiet=options.quiet) as told:
        tell = lambda done, step, _: told(f"{step:,} {done}", 0, 1)  # noqa: E731
        chains = read_chains(options.data, split, tokens, tell)
        tests = read_chains(options.test_data, split, tokens, tell) if options.test_data else []
    found = examine(options.data, chains, tests, options.decoder)
    if options.json:
        write_object("check", {"thoughts": {**found.plain(), "split": rules[0], "tokenise": rules[1]}})
    else:
        _write(found, rules)
    if options.out is not None and found.gaps is not None:
        _write_gaps(options, found.gaps.lines)
    return 0


def _write(found: Findings, rules: tuple[str, str]) -> None:
    values = {**vars(found), "split": rules[0], "tokens": rules[1]}
    print(wrapped(sentence("thoughts.title", values), "", "  "))
    print(wrapped(sentence("thoughts.as_decoder" if found.form == "decoder" else "thoughts.as_steps")))
    print()
    write_list(found.explain(), "- ", "  ")
    width, count = found.width or found.by_width[-1].width, found.conflicting
    key = "none_found" if not count else "faults" if found.width else "many"
    print(f"\n{wrapped(sentence(f'thoughts.{key}', {'width': width, 'count': count}))}")
    write_list((conflict.explain() for conflict in found.conflicts[:_SHOWN]), "- ", "  ")
    if count > _SHOWN:
        print(f"  {sentence('thoughts.and_more', {'more': count - _SHOWN})}")
    if found.gaps is not None:
        print()
        write_list(found.gaps.explain(), "", "")


def _write_gaps(options: argparse.Namespace, lines: tuple[int, ...]) -> None:
    if not lines:
        narrate(sentence("thoughts.no_gaps", {"name": options.out}), options.quiet)
        return
    wanted = set(lines)
    with (
        written(options.out, options.quiet, "test records"),
        replace_output(Path(options.out)) as part,
        open_file(options.test_data) as source,
        part.open("wb") as target,
    ):
        for number, line in lines_in(source, options.test_data):
            if number in wanted:
                target.write(line if line.endswith(b"\n") else line + b"\n")
