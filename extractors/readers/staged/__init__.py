"""Reading in stages: one pass or several views in steps, their union, then refinement."""
