"""Run a study: many runs described in one short TOML file, or one of the studies that come with the package.

Run the same command again to resume: finished runs are never repeated, interrupted ones resume from their
checkpoints. The runs are kept in runs/NAME unless --folder says otherwise, with a report in one HTML file.

See also `lengthwise study status NAME` from another terminal, `study show NAME`, `study export NAME`,
`study rebuild NAME`, and `lengthwise report NAME`.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser, add_trust, number, whole


def add_options(parser: Parser) -> None:
    parser.add_argument("study", nargs="?", metavar="STUDY", help="a TOML file, or a name that --list prints")
    add = parser.add_argument
    add("--list", action="store_true", help="list the studies that come with the package, with their presets")
    add("--preset", metavar="NAME", help="a variant of the study, such as small or full (its first)")
    add("--seeds", type=whole, metavar="N", help="number of seeds, in place of the study's own; raise it to add some")
    add("--dry-run", action="store_true", help="print the number of runs, the time they may take and the first few")
    add("--folder", metavar="DIR", help="where the study is kept (runs/NAME)")
    add("--executor", default="local", metavar="SPEC", help="local:workers=4, ray, ray:address=…, slurm:… (local)")
    add("--silence", type=number, default=600.0, metavar="S", help="seconds without a sign of life that end a run")
    add("--track", metavar="NAME", help="mirror the runs to mlflow, trackio or tensorboard")
    add("--no-report", action="store_true", help="do not write the report at the end")
    add_trust(parser, "the study")
    parser.seed_help = "a number added to every seed of the study (0)"
