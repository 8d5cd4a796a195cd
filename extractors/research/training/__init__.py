"""Training the adapter of the embedded model: its data, the run, its evaluation and its card."""
