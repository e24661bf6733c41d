"""What `study` and its commands, and `report`, take."""

from __future__ import annotations

from lengthwise.cli.options import Parser, above_0, add_computing, add_trust, whole

MEASURES = {
    "reach": "reach, in sizes",
    "in_range": "exact match in the training range, in %",
    "twice": "exact match at 2 x the training size, in %",
    "thrice": "exact match at 3 x the training size, in %",
}


def study(parser: Parser) -> None:
    """Run a study: many runs described in one short TOML file, or one of the studies that come with the package.

    Run the same command again to resume: finished runs are never repeated, interrupted ones resume from their
    checkpoints. The runs are kept in runs/NAME unless --folder says otherwise, with a report in one HTML file.

    See also `lengthwise study status NAME` from another terminal, `study show NAME`, `study export NAME`, `study
    rebuild NAME`, and `lengthwise report NAME`.
    """
    parser.add_argument("study", nargs="?", metavar="STUDY", help="a TOML file, or a name that --list prints")
    parser.flag("--list", "list the studies that come with the package, with their presets")
    parser.add("--preset NAME", "a variant of the study, such as small or full (its first)")
    parser.add("--seeds N", "number of seeds, in place of the study's own; raise it to add some", whole)
    parser.flag("--dry-run", "print the number of runs, the time they may take and the first few")
    parser.add("--folder DIR", "where the study is kept (runs/NAME)")
    parser.add("--executor SPEC", "local:workers=4, ray:gpus=0.25, slurm:gres=gpu:1, … (local)", default="local")
    add_computing(parser, measures=False)
    parser.add("--precision HOW", "of all runs, in place of the study's own: float32 or bf16")
    parser.add("--silence S", "seconds without a sign of life that end a run", above_0, default=600.0)
    parser.add("--track NAME", "mirror the runs to mlflow, trackio or tensorboard")
    parser.flag("--no-report", "do not write the report at the end")
    add_trust(parser, "the study")
    parser.seed_help = "a number added to every seed of the study (0)"


def study_status(parser: Parser) -> None:
    """Show the progress of a study: how many runs are done, running, failed and waiting, and the time that is left.

    You can ask from another terminal while the study is running; nothing is changed.
    """
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.seed_help = ""


def study_show(parser: Parser) -> None:
    """Show what a study came to: a table of tasks and encodings for each measure, with intervals over seeds.

    Shown are the reach (the largest size up to which exact match stays at 95 % or more) and the exact match on the
    second and on the third stretch of sizes as wide as the training range; then the records of the study's analyses. Of
    a summary (`study export --summary`) the records alone are shown.
    """
    parser.add_argument("name", metavar="NAME", help="a study below runs/, the folder of one, or a summary of one")
    parser.add("--probe NAME", "show the records of this probe, run by run")
    names = ", ".join(MEASURES)
    parser.add("--measure LIST", f"which of {names}, with commas between (reach,twice,thrice)")
    add_trust(parser, "the study")
    parser.seed_help = ""


def study_export(parser: Parser) -> None:
    """Write the results of a study for other programs, as Parquet or CSV in tidy form.

    There is one row for each run and size of the curve, or with `--probe NAME` for each run and row of a table of that
    probe, chosen with `--table`. `--claims` writes one row for each run: how it ended, and the value of every claim.
    The columns that identify a run come first, its settings last. Numbers read back as they were, and so do texts.

    `--summary` writes the records and distances of a study to one small JSON file instead, from which its findings can
    be computed again: without weights, curves and examples, and with numbers rounded to four digits. `--atlas` writes
    the finished runs of a study with the probe `signals` as an atlas, with the facts of their tasks, for `lw.atlas`;
    run it again to add runs that have finished since.
    """
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.add_argument(
        "out", metavar="OUT", help="the .parquet or .csv file to write; .json or .json.gz for a summary"
    )
    parser.add("--probe NAME", "the records of this probe (curve)")
    parser.add("--table KEY", "this table of the records (the longest)")
    parser.flag("--claims", "one row per run, with the values of its claims")
    parser.flag("--summary", "write all records to one small JSON file")
    parser.flag("--atlas", "write the runs as an atlas, to a file ending in .json.gz")
    parser.seed_help = ""


def study_rebuild(parser: Parser) -> None:
    """Rebuild the index of a study from its run folders, after it was lost or damaged.

    Every finished run is checked: its record, its weights and what was measured, against their SHA-256. Damaged folders
    are named and left as they are; delete one to have its run trained again. A damaged index is kept next to the new
    one.
    """
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.seed_help = ""


def report(parser: Parser) -> None:
    """Write the report of a study: one HTML page that needs no network.

    The page is made from stored records alone, so you can write it while the study is running, and again when it has
    ended.

    `lengthwise report atlas` writes a map of the measured runs that come with the package, if you have no study of that
    name: tasks and encodings, coloured by reach. A file of an atlas, FILE.json.gz, is drawn in the same way.
    """
    parser.add_argument("name", metavar="NAME", help="a study below runs/, the folder of one, or atlas")
    parser.add_output("--out", (".html",), "where to write the page (report.html in the study's folder; atlas.html)")
    parser.add("--figures DIR", "also write every figure as SVG, PNG and PDF there")
    add_trust(parser, "the study")
    parser.seed_help = ""
