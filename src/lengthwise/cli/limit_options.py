"""What `limit` and its commands take."""

from __future__ import annotations

from lengthwise.cli.options import Parser, add_computing, add_trust, number, whole_from


def limit(parser: Parser) -> None:
    """Show when attention becomes hard in a limit transformer (JSON), an example, or a trained model.

    MODEL is a .json file (format: docs/explanation/limit.md), the name of an example, such as rare_pair or
    wave:omega=4, or the folder of a run. Without MODEL the examples are listed.

    For a limit transformer it prints the logit margin gamma, the length 2^(p/gamma) from which attention is hard at p
    bits, the exact length from which it is hard, the constant L, and what the theorems say about them; in the mode
    infinite, it prints the positional margin. All of these are proved.

    For a run it measures the margin of each head at several sizes (the probe `hardness`) and extrapolates: the length
    from which attention would be hard at the model's precision if the trend continued.
    """
    text = "a .json file, an example such as wave:omega=4, or the folder of a run"
    parser.add_argument("model", nargs="?", metavar="MODEL", help=text)
    parser.add("--bits P", "precision in bits (default: that of the file; for a run 24, or 8 in bf16)", whole_from(1))
    parser.add("--mode NAME", "read a limit transformer in another mode: finite, hardmax or infinite")
    parser.add("--sizes LIST", "with a run: the sizes to measure at, such as 10,20,40 or 5-60")
    parser.add("--items N", "with a run: test items per size (default: 32)", whole_from(1))
    parser.add_output("--page", (".html",), "also write the record as one HTML page")
    add_computing(parser)
    add_trust(parser, "the run")


def limit_simulate(parser: Parser) -> None:
    """Find a short word on which a limit transformer answers almost as on a long one.

    MODEL is a .json file or an example, with one layer. The long word is given as text or as a file. Symbols of one
    character may be written with or without white space between them; longer symbols are separated by white space. The
    short word keeps the end of the long one, the phase of its last position, and which symbols occur at which phase;
    its counts are searched, from the shortest length up. The difference of the two answers is printed with the proved
    bound on it.
    """
    parser.add_argument("model", metavar="MODEL", help="a .json file or an example such as wave:omega=4")
    parser.add("--word TEXT", "the long word")
    parser.add("--file FILE", "a file that holds the long word")
    parser.add("--error E", "largest difference of the answers (default: 0.01)", number, default=0.01)
    parser.add("--length N", "the longest short word to try (default: 200)", whole_from(1), default=200)
    parser.flag("--require", "exit with code 3 if no short word is within the error")
    parser.seed_help = ""


def limit_compare(parser: Parser) -> None:
    """Compare two limit transformers on all words up to a length, and print a shortest word on which they differ.

    MODEL and OTHER are .json files or examples over the same symbols. One layer is compared on one word for each vector
    of counts, which represents all words with the same answer; two layers are compared on every word. Rational numbers
    are compared exactly.
    """
    parser.add_argument("model", metavar="MODEL", help="a .json file or an example such as wave:omega=4")
    parser.add_argument("other", metavar="OTHER", help="the model to compare it with")
    parser.add("--length N", "compare words of up to N symbols (default: as many as take seconds)", whole_from(1))
    parser.add("--error E", "answers that differ by at most E agree (default: 0)", number, default=0.0)
    parser.flag("--require", "exit with code 3 if they differ")
    parser.seed_help = ""
