"""What `lengthwise positions` does."""

from __future__ import annotations

import argparse

import numpy as np

from lengthwise.cli.commands.records import write_grid
from lengthwise.cli.commands.tasks import first_line, write_names
from lengthwise.cli.output import wrapped, write_object
from lengthwise.errors import UsageError
from lengthwise.positions import Position, Shape, make_position, positions, wrappers
from lengthwise.seeds import Seeds

_LONGEST = 1_000_000  # tokens: memory grows with the training length


def run(options: argparse.Namespace) -> int:
    if options.trained > _LONGEST:
        raise UsageError(f"--trained must be at most {_LONGEST:,} tokens, not {options.trained}")
    if options.position is None:
        rows = [(name, first_line(positions.maker(name))) for name in positions.names()]
        rows += [(f"…+{name}", first_line(wrappers.maker(name))) for name in wrappers.names()]
        hint = "`lengthwise positions rope` shows one; a wrapper is added as in learned+offset"
        return write_names("positions", rows, hint, options)
    content = _about(make_position(options.position), options)
    if options.json:
        write_object("positions", content)
    else:
        _write_about(content)
    return 0


def _about(position: Position, options: argparse.Namespace) -> dict:
    parts = [position]
    while isinstance(base := getattr(parts[0], "base", None), Position):
        parts.insert(0, base)
    return {
        "name": positions.text_of(position),
        "description": " ".join(first_line(type(part)) for part in parts),
        "shift_invariant": position.shift_invariant,
        "beyond_training": position.beyond_training,
        "real": position.real,
        "from_task": position.from_task,
        "trained": options.trained,
        "logits": _logits(position, options),
    }


def _write_about(content: dict) -> None:
    yes = {True: "yes", False: "no"}
    print(content["name"])
    print(wrapped(content["description"]) + "\n")
    print(f"shift-invariant          {yes[content['shift_invariant']]}")
    print(f"defined beyond training  {yes[content['beyond_training']]}")
    print(f"real positions           {yes[content['real']]}")
    print(f"positions from the task  {yes[content['from_task']]}\n")
    print("logit between a query and a key that are alike, before training")
    rows = [[str(row["distance"]), *(f"{value:.3f}" for value in row["heads"])] for row in content["logits"]]
    write_grid(["distance", *(f"head {head}" for head in range(1, len(rows[0])))], rows, ())


def _logits(position: Position, options: argparse.Namespace) -> list[dict]:
    """q·k / sqrt(D) plus bias for q = k in each of four heads, at 0, 1, 2, 4, 8, … places behind the last query."""
    import torch  # listing needs none of it

    seeds, tokens = Seeds(options.seed or 0), options.trained
    shape = Shape(width=64, heads=4, rows=tokens, trained=tokens)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seeds.key("show") >> 1)
        position.check(shape)
        encoder = position.build(shape).double()
        if position.from_task:  # of a task that counts its tokens
            at = torch.from_numpy(position.place(np.arange(tokens)[None], shape, seeds, False))
        else:
            at = position.indices(tokens, 1, shape, seeds, False)
        vector = torch.nn.functional.normalize(torch.randn(1, 4, 1, 16, dtype=torch.float64), dim=-1) * 4
        keys = vector.expand(1, 4, tokens, 16)
        if (added := encoder.embed(at)) is not None:
            keys = keys + added.reshape(1, tokens, 4, 16).transpose(1, 2)
        query, last = keys[:, :, -1:], at[:, -1:]  # the last query alone: one row of the logits, not the whole square
        scores = encoder.scores(query, keys, last, at, torch.tensor([tokens - 1]))
        if scores is None:
            scores = encoder.rotate(query, last) @ encoder.rotate(keys, at).transpose(2, 3)
        logits = scores / 4
        if (bias := encoder.bias(last, at)) is not None:
            logits = logits + bias
    distances = [0, *(2**power for power in range(30))]
    shown = [distance for distance in distances if distance < tokens][: options.show]
    return [{"distance": d, "heads": logits[0, :, 0, tokens - 1 - d].tolist()} for d in shown]
