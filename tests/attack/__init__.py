"""Campaigns of hostile invocations and of attempts against certified bounds; `make attack` runs them."""
