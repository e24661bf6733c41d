"""The encoders that position encodings build. They need torch; looking up a name does not import them."""
