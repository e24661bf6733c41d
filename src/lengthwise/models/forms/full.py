"""The usual form: every weight is trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.models.forms import forms
from lengthwise.models.forms.form import Form

if TYPE_CHECKING:
    from torch import Tensor

    from lengthwise.seeds import Seeds


@forms.register("full")
@dataclass(frozen=True)
class Full(Form):
    """Every weight is trained; the weights are their own coordinates."""

    def map_for(self, initial: Mapping[str, Tensor], seeds: Seeds) -> None:  # noqa: ARG002
        return None
