"""What bounds are made from, one a file: `inequality` (the contract), `hoeffding`, `product`, `freedman`."""

from lengthwise.bounds.tokens.inequalities.freedman import Freedman
from lengthwise.bounds.tokens.inequalities.hoeffding import Hoeffding
from lengthwise.bounds.tokens.inequalities.inequality import Inequality
from lengthwise.bounds.tokens.inequalities.product import Product

__all__ = ["Freedman", "Hoeffding", "Inequality", "Product"]
