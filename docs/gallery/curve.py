"""A model trained to size 10, measured to size 30.

A Transformer without a position encoding learns which of two symbols is in the majority. The training range is shaded;
the band is a 95 % interval at each size.
"""

import sys
import tempfile
from pathlib import Path

import lengthwise as lw
from lengthwise.figures import curve_svg

with tempfile.TemporaryDirectory() as folder:
    run = lw.train(
        "binary_majority",
        "none",
        train_size=10,
        test_size=30,
        depth=1,
        width=32,
        heads=2,
        steps=150,
        batch=32,
        items=100,
        folder=folder,
    )

Path(sys.argv[1]).write_text(curve_svg([run.curve.plain()]), encoding="utf-8")
