"""How far two weighted samples are apart: exact Wasserstein-1 distances with a certificate.

    problem    two samples, their weights and the cost between them; what a solver hands back
    solve      the one entry: chooses a method, solves, verifies, and says what it chose
    verify     the certificate, recomputed from the costs, the plan and the potentials alone
    solvers/   one method a file

Nothing here needs torch. Without numba (the extra `ot`) the same methods run interpreted, for a few thousand points.
"""
