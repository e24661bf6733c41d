"""The networks that attention rules build for each layer. They need torch; looking up a rule does not import them."""
