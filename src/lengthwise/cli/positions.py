"""List the position encodings with one line each, or show one in figures.

Shown are its promises and, for a query and a key that are alike, how the logit between them changes with distance.
"""

from __future__ import annotations

import argparse

from lengthwise.cli.options import whole


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "position", nargs="?", help="an encoding, with settings and wrappers as rope:base=500000+randomized"
    )
    parser.add_argument("--show", type=whole, default=8, metavar="N", help="the number of distances shown (8)")
    parser.add_argument(
        "--trained", type=whole, default=64, help="the training length, in tokens, the encoding is built for (64)"
    )


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.output import write_object
    from lengthwise.cli.tasks import first_line, write_rows
    from lengthwise.positions import make_position, position_spec, positions, wrappers

    if options.position is None:
        rows = [(name, first_line(positions.maker(name))) for name in positions.names()]
        extra = [(f"…+{name}", first_line(wrappers.maker(name))) for name in wrappers.names()]
        if options.json:
            listed = [{"name": name, "description": text} for name, text in rows + extra]
            write_object("positions", {"positions": listed})
        else:
            write_rows(rows + extra)
            if not options.quiet:
                print(
                    "\n`lengthwise positions NAME` shows one. Settings: NAME:key=value,key=value; wrappers: NAME+offset"
                )
        return 0
    position = make_position(options.position)
    content = {
        "name": position_spec(position),
        "description": first_line(type(position)),
        "shift_invariant": position.shift_invariant,
        "beyond_training": position.beyond_training,
        "logits": _logits(position, options),
    }
    if options.json:
        write_object("positions", content)
        return 0
    yes = {True: "yes", False: "no"}
    print(f"{content['name']}\n{content['description']}\n")
    print(f"shift-invariant          {yes[position.shift_invariant]}")
    print(f"defined beyond training  {yes[position.beyond_training]}\n")
    print("logit between a query and a key that are alike, by distance (one column a head)")
    for row in content["logits"]:
        print(f"{row['distance']:>9}  " + "  ".join(f"{value:>8.3f}" for value in row["heads"]))
    return 0


def _logits(position, options: argparse.Namespace) -> list[dict]:
    """q·k / sqrt(D) plus bias for q = k in each of four heads, at 0, 1, 2, 4, 8, … places behind the last query."""
    import torch

    from lengthwise.errors import UsageError
    from lengthwise.positions import Shape
    from lengthwise.seeds import Seeds

    if options.show < 1 or options.trained < 2:
        raise UsageError("--show is at least 1 and --trained at least 2")
    seeds = Seeds(options.seed or 0)
    shape = Shape(width=64, heads=4, rows=options.trained, trained=options.trained)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seeds.key("show") >> 1)
        encoder = position.build(shape).double()
        at = position.indices(options.trained, 1, shape, seeds, False)
        vector = torch.nn.functional.normalize(torch.randn(1, 4, 1, 16, dtype=torch.float64), dim=-1) * 4
        x = vector.expand(1, 4, options.trained, 16)
        if (added := encoder.embed(at)) is not None:
            x = x + added.reshape(1, options.trained, 4, 16).transpose(1, 2)
        index = torch.arange(options.trained)
        scores = encoder.scores(x, x, at, at, index)
        scores = encoder.rotate(x, at) @ encoder.rotate(x, at).transpose(2, 3) if scores is None else scores
        logits = scores / 4
        if (bias := encoder.bias(at, at)) is not None:
            logits = logits + bias
    distances = [0, *(2**power for power in range(30))]
    shown = [distance for distance in distances if distance < options.trained][: options.show]
    return [{"distance": d, "heads": logits[0, :, -1, options.trained - 1 - d].tolist()} for d in shown]
