"""What `study` and its commands, `report` and `view` take."""

from __future__ import annotations

from lengthwise.cli.options import Parser, above_0, add_computing, add_trust, add_yes, whole, whole_from

MEASURES = {
    "reach": "reach, in sizes",
    "in_range": "exact match in the training range, in %",
    "twice": "exact match at 2 x the training size, in %",
    "thrice": "exact match at 3 x the training size, in %",
}


def study(parser: Parser) -> None:
    """Run a study: many runs described in one short TOML file, or one of the studies that come with the package.

    Run the same command again to resume: finished runs are never repeated, interrupted ones resume from their
    checkpoints. The runs are saved in runs/NAME unless you set --folder, with a report in one HTML file.

    See also `lengthwise study status NAME` from another terminal, `study show NAME`, `study export NAME`, `study
    rebuild NAME`, and `lengthwise report NAME`.
    """
    parser.add_argument("study", nargs="?", metavar="STUDY", help="a TOML file, or a name that --list prints")
    parser.flag("--list", "list the studies that come with the package, with their presets")
    parser.add("--preset NAME", "a variant of the study, such as small or full (default: its first)")
    parser.add("--seeds N", "number of seeds instead of the study's own; raise it to add seeds", whole)
    parser.flag("--dry-run", "print the number of runs, the time they may take and the first few")
    add_yes(parser)
    parser.add("--folder DIR", "where to save the study (default: runs/NAME)")
    parser.add(
        "--executor SPEC", "local:workers=4, ray:gpus=0.25, slurm:gres=gpu:1, … (default: local)", default="local"
    )
    add_computing(parser, measures=False)
    parser.add("--precision HOW", "precision of all runs instead of the study's own: float32 or bf16")
    parser.add(
        "--silence S", "kill a run after S seconds without a sign of life (default: 600)", above_0, default=600.0
    )
    parser.add("--track NAME", "mirror the runs to mlflow, trackio or tensorboard")
    parser.flag("--no-report", "do not write the report at the end")
    add_trust(parser, "the study")
    parser.seed_help = "number to add to every seed of the study (default: 0)"


def study_status(parser: Parser) -> None:
    """Show the progress of a study: how many runs are done, running, failed and waiting, and the time left.

    You can run this from another terminal while the study is running; it changes nothing.
    """
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.seed_help = ""


def study_show(parser: Parser) -> None:
    """Print the results of a study: a table of tasks and encodings for each measure, with intervals over seeds.

    The measures are the reach (the largest size up to which exact match stays at 95 % or more) and the exact match on
    the second and the third range of sizes as wide as the training range. The records of the study's analyses follow.
    For a summary (`study export --summary`) only the records are shown.
    """
    parser.add_argument("name", metavar="NAME", help="a study below runs/, the folder of one, or a summary of one")
    parser.add("--probe NAME", "show the records of this probe, run by run")
    parser.add("--analysis SPEC", "show the record of this analysis alone, whether the study names it or not")
    names = ", ".join(MEASURES)
    parser.add("--measure LIST", f"which of {names}, separated by commas (default: reach,twice,thrice)")
    add_trust(parser, "the study")
    parser.seed_help = ""


def study_export(parser: Parser) -> None:
    """Export the results of a study for other programs, as Parquet or CSV in tidy form.

    There is one row per run and size of the curve, or with `--probe NAME` one per run and row of a table of that probe,
    selected with `--table`. `--claims` writes one row per run: how it ended, and the value of every claim. The columns
    that identify a run come first, its settings last. Numbers and texts are read back unchanged.

    `--summary` writes the records and distances of a study to one small JSON file instead, from which its findings can
    be recomputed: without weights, curves and examples, and with numbers rounded to four digits. `--atlas` writes
    the finished runs of a study with the probe `signals` as an atlas, with the facts of their tasks, for `lw.atlas`;
    run it again to add runs that have finished since.
    """
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.add_argument(
        "out", metavar="OUT", help="the .parquet or .csv file to write; .json or .json.gz for a summary"
    )
    parser.add("--probe NAME", "export the records of this probe (default: curve)")
    parser.add("--table KEY", "export this table of the records (default: the longest)")
    parser.flag("--claims", "write one row per run, with the values of its claims")
    parser.flag("--summary", "write all records to one small JSON file")
    parser.flag("--atlas", "write the runs as an atlas, to a file ending in .json.gz")
    parser.seed_help = ""


def study_rebuild(parser: Parser) -> None:
    """Rebuild the index of a study from its run folders, after it was lost or damaged.

    The record, weights and measurements of every finished run are checked against their SHA-256. Damaged folders are
    named and left as they are; delete one to train its run again. A damaged index is kept next to the new one.
    """
    parser.add_argument("name", metavar="NAME", help="the name of a study below runs/, or its folder")
    parser.seed_help = ""


def report(parser: Parser) -> None:
    """Write the report of a study: one HTML page that works offline.

    The page uses only stored records, so you can write it while the study is running, and again when it has ended.

    `lengthwise report atlas` writes a map of the measured runs that come with the package, if you have no study of that
    name: tasks and encodings, coloured by reach. An atlas file, FILE.json.gz, is shown in the same way, and the summary
    of a study with ladders (`study export --summary`) gives the report of that study.
    """
    parser.add_argument(
        "name", metavar="NAME", help="a study below runs/, the folder of one, the file of a summary, or atlas"
    )
    parser.add_output(
        "--out",
        (".html",),
        "where to write the page (default: report.html in the study's folder; atlas.html or SUMMARY.html here)",
    )
    parser.add("--figures DIR", "also write every figure as SVG, PNG and PDF to this folder")
    add_trust(parser, "the study")
    parser.seed_help = ""


def view(parser: Parser) -> None:
    """Watch runs and studies on a local page: progress, losses and curves as they grow, and any record.

    The command prints the address of the page and answers until you press Ctrl-C. It only reads: you can start and stop
    it while studies run. Only this machine can open the page, and only with the token in the address.

    `--bundle DIR` writes the page as static files instead. Open DIR/index.html in a browser; it needs no server.
    """
    parser.add_argument(
        "folder", nargs="?", metavar="FOLDER", help="a folder of runs, a study or a run (default: runs)"
    )
    parser.add("--port N", "the port to listen on (default: a free one)", whole_from(1, 65_535))
    parser.flag("--open", "open the page in your browser")
    parser.add("--bundle DIR", "write the page as static files to this folder, and start no server")
    parser.seed_help = ""
