"""Attention as transport, tokens as particles, and how to measure clusters."""
