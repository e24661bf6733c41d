"""The table of huang2025, and what its tasks are called here, for tests of several parts."""

from __future__ import annotations

from pathlib import Path

TABLE = Path(__file__).parent / "data" / "huang2025.csv"

# name in the table → registered name of the task
ALGORITHMIC = {
    "binary_majority": "binary_majority",
    "binary_majority_interleave_3": "interleaved_majority",
    "majority_26": "majority",
    "sort_unique": "sort",
    "copy_unique": "copy_unique",
    "copy_repeat": "copy_repeat",
    "parity": "parity",
    "addition": "addition",
}
REGULAR = {
    **{f"D_{depth}": f"d_{depth}" for depth in (2, 3, 4, 12)},
    **{f"tomita_{number}": f"tomita_{number}" for number in range(1, 8)},
    "aa*bb*cc*dd*ee*": "aa_star_bb_star_cc_star_dd_star_ee_star",
    "{a,b}*d{b,c}*": "ab_star_d_bc_star",
    "{0,1,2}*02*": "012_star_02_star",
    "(aa)*": "aa_star",
    "(aaaa)*": "aaaa_star",
    "(abab)*": "abab_star",
}
