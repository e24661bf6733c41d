"""What `examples`, `completion` and `man` take."""

from __future__ import annotations

from lengthwise.cli.options import OneOf, Parser


def examples(parser: Parser) -> None:
    """Copy examples into a folder: a study file, your own task, network, encoding and automaton, items in a file, a
    Python script, and the tutorial as a notebook. README.md in that folder gives the command that runs each.

    A file that is there already and differs is left alone, and nothing is copied, unless you give --overwrite.
    """
    words = "where to copy them (default: lengthwise-examples)"
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help=words)
    parser.flag("--list", "list the examples, and copy nothing")
    parser.flag("--overwrite", "replace files of the same names")
    parser.seed_help = ""


def completion(parser: Parser) -> None:
    """Print the script that completes commands, options, tasks, encodings and other names when you press Tab.

    For bash, add `eval "$(lengthwise completion bash)"` to ~/.bashrc. For zsh, add `eval "$(lengthwise completion
    zsh)"` to ~/.zshrc, below the line with compinit. For fish, run `lengthwise completion fish >
    ~/.config/fish/completions/lengthwise.fish`.
    """
    parser.add_argument("shell", type=OneOf("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish")
    parser.add("--line TEXT", "print the possible last words of this line instead (used by the script)")
    parser.seed_help = ""


def man(parser: Parser) -> None:
    """Print the manual page of all commands and options. `lengthwise man | man -l -` shows it.

    After an installation with pip, `man lengthwise` finds the same page if the environment is activated.
    """
    parser.seed_help = ""
