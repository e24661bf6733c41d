"""Inequalities from which bounds are made, one a file: `form` (the contract), `hoeffding`, `product`, `freedman`."""

from lengthwise.bounds.tokens.forms.form import Form
from lengthwise.bounds.tokens.forms.freedman import Freedman
from lengthwise.bounds.tokens.forms.hoeffding import Hoeffding
from lengthwise.bounds.tokens.forms.product import Product

__all__ = ["Form", "Freedman", "Hoeffding", "Product"]
