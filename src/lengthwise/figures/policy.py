"""What a browser may do with a page of ours: run the page's own scripts and styles, known by their hashes, and draw
pictures made in the page. No other code, no evaluation of text, no network.

Hashes are those of the texts that a writer gives here, never of what is found in the finished page: a script that
came in with a name or a text would otherwise be allowed too.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from lengthwise.figures.drawing import vega_bundle


def policy(style: str, scripts: Sequence[str]) -> str:
    """The content of the page's Content-Security-Policy."""
    allowed = "".join(f" '{_hash(script)}'" for script in scripts) or " 'none'"
    return (
        f"default-src 'none'; script-src{allowed}; style-src '{_hash(style)}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def bundle() -> str:
    """Vega, Vega-Lite and their embedding, as one script that can stand in a page."""
    return vega_bundle().replace("</script", "<\\/script")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
