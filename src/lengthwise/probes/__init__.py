"""Everything that can be measured of one subject: one module or package per probe, under a name.

A probe's own module holds its settings and does not import torch; what it computes with stands in modules that it
imports when it is asked. Adding a probe is adding a module here, an entry point `lengthwise.probes`, or a file of your
own, `my.py::MyProbe`.
"""

from lengthwise.probes.probe import Context, Probe, probes

__all__ = ["Context", "Probe", "probes"]
