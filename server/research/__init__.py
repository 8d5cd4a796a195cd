"""The research commands `urbankg evaluate`, `train` and `trajectories`.

A running server does not import them. May import everything.
"""
