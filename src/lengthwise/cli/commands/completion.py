"""What `lengthwise completion` does."""

from __future__ import annotations

import argparse

from lengthwise.cli.completion import completions, script
from lengthwise.cli.output import write_object


def run(options: argparse.Namespace) -> int:
    shell = options.shell
    if options.line is None:
        text = script(shell)
        if options.json:
            write_object("completion", {"shell": shell, "script": text})
        else:
            print(text, end="")
        return 0
    found = completions(options.line, shell)
    if options.json:
        write_object("completion", {"shell": shell, "words": found})
    else:
        print("".join(f"{word}\t{text}\n" if text else f"{word}\n" for word, text in found.items()), end="")
    return 0
