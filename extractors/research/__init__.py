"""Research: evaluation, training and judging. Nothing that runs in a server imports it."""
