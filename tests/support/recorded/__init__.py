"""A model whose replies are known beforehand: texts from a small table of frames, and what each one says."""
