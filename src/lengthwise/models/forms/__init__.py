"""How the weights of a model are made from what is trained.

A bound by compression pays for every number that training chose. A form lets training choose few: `lora` a sum of few
outer products for every matrix, `subspace` a point in a random subspace of all weights, `sublora` a point in a random
subspace of such sums. Whatever else a form needs comes from the seed of the run.
"""

from lengthwise.models.forms.form import Form, Map
from lengthwise.registry import Registry

__all__ = ["Form", "Map", "forms"]

forms: Registry[Form] = Registry(
    "form", "lengthwise.models.forms", "lengthwise.forms", base=Form, contract="lengthwise.testing:check_form"
)
