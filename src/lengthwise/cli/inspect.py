"""Inspect a model: its layers and norms, how much it can stretch distances, what moving all positions does to it, how
clearly its attention prefers one key to the others and which tokens receive it, and whether its tokens draw together
from block to block.

MODEL is the folder of a run, a folder with config.json and safetensors (GPT-2, Llama, Mistral, Qwen2, BERT, RoBERTa),
or a GGUF file; nothing is downloaded. It is shown items of the run's own task, or of --task or --data; a model without
a task is shown a built-in text where it has a tokenizer, and made-up sequences where it has none.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from lengthwise.cli.options import Parser, add_trust, at_least, check_place, whole
from lengthwise.cli.output import narrate, width, wrapped, write_field, write_object

if TYPE_CHECKING:
    from lengthwise.inspection.content import Cell, Inspection, Section, Table

_SECTIONS = "layers,lipschitz,shift,margins,attention,bounds,geometry"  # by hand, as help needs no torch
_MOST = 14  # rows of a table that a terminal is shown


def add_options(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a run, a folder of the Hugging Face Hub, or a GGUF file")
    add = parser.add_argument
    add("--task", metavar="TASK", help="show it items of this task, which has the same symbols")
    add("--data", metavar="FILE", help='show it a JSONL file: {"tokens": […]}, {"text": …} or {"input": …}')
    add("--size", type=whole, metavar="N", help="the size of the items (the largest it was trained on)")
    add("--items", type=whole, metavar="N", help="how many sequences (8; 2 for a model of over 20 million)")
    add("--sections", metavar="NAMES", help=f"only these, with commas between: {_SECTIONS}")
    add("--page", metavar="FILE", help="also write all of it as one HTML page")
    add_trust(parser, "the run")
    parser.seed_help = "the seed of the inputs (0)"


def run(options: argparse.Namespace) -> int:
    at_least(1, options.items, "--items")
    at_least(1, options.size, "--size")
    # Before numpy and torch are loaded: on a shared machine many small matrices took twice as long on two threads.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from lengthwise.inspection.inspect import inspect

    check_place(options.page, "--page", (".html",))
    names = None if options.sections is None else [name.strip() for name in options.sections.split(",")]
    found = inspect(
        options.model,
        task=options.task,
        data=options.data,
        size=options.size,
        items=options.items,
        sections=names,
        seed=options.seed or 0,
        listener=lambda doing: narrate(f"{doing} …", options.quiet),
    )
    if options.page is not None:
        from lengthwise.reports.inspection import write_inspection

        write_inspection(found, Path(options.page))
    if options.json:
        write_object("inspect", {**found.plain(), "page": options.page})
    else:
        _write(found)
        if options.page is not None:
            print(f"\n{options.page}")
    return 1 if any(section.broken for section in found.sections) else 0


def _write(found: Inspection) -> None:
    print(found.model)
    for label, text in (*found.facts, ("inputs", found.inputs)):
        write_field(label, text)
    for module, reason in found.skipped:
        write_field("left out", f"{module}: {reason}")
    for section in found.sections:
        _write_section(section)


def _write_section(section: Section) -> None:
    print(f"\n{section.title}\n{'─' * len(section.title)}")
    if section.failed:
        print(wrapped(f"could not be made: {section.failed}"))
    for text in section.text:
        print(wrapped(text))
    for claim in section.claims:
        print(wrapped(str(claim), "• ", "  "))
    for table in section.tables:
        _write_table(table)
    if section.details:
        names = ", ".join(f"{table.title} ({len(table.rows)})" for table in section.details)
        print(wrapped(f"on the page and in --json: {names}"))


def _write_table(table: Table) -> None:
    print(f"\n{table.title}" + (":" if table.rows else ": none"))
    cells = [[_shown(cell) for cell in row] for row in table.rows]
    if len(cells) > _MOST:
        left = len(cells) - _MOST + 1
        half = _MOST // 2
        cells = [*cells[:half], [f"… {left}", *[""] * (len(table.columns) - 1)], *cells[left + half :]]
    wide = [max(map(len, column)) for column in zip(table.columns, *cells, strict=True)]
    text = [any(isinstance(row[i], str) for row in table.rows) for i in range(len(wide))]
    for row in [table.columns, *cells]:
        parts = [cell.ljust(w) if left else cell.rjust(w) for cell, w, left in zip(row, wide, text, strict=True)]
        line = "  ".join(parts).rstrip()
        print(line if len(line) <= width() else line[: width() - 1] + "…")
    if table.note:
        print(wrapped(f"({table.note})"))


def _shown(cell: Cell) -> str:
    if cell is None:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
