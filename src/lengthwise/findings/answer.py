"""The answer in words: what is claimed, what was found, how sure that is. Every sentence is made from claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.records import Claim


@dataclass(frozen=True)
class Answer:
    """Two sentences each. `claims` are those that the sentences are made from."""

    claimed: tuple[str, str]
    found: tuple[str, str]
    sure: tuple[str, str]
    claims: tuple[Claim, ...]

    def plain(self) -> dict[str, Any]:
        own = [claim.plain() for claim in self.claims]
        return {"claimed": list(self.claimed), "found": list(self.found), "sure": list(self.sure), "claims": own}
