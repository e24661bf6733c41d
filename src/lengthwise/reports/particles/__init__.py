"""The page and the film of tokens that move on a sphere."""
