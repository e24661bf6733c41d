"""A campaign of hostile invocations; `make attack` runs it."""
