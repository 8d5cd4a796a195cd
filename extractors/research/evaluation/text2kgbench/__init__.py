"""Text2KGBench (Mihindukulasooriya et al., 2023): its files read as they are, its scores and stricter."""
