"""Settings of all tests."""

import os

from hypothesis import settings

# On a developer's machine hypothesis looks for new counterexamples every time; a landing is not decided by luck.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
