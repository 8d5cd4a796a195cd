"""Completion measured: the model's relation of two places against the computed one (KGC, methods U5, U11)."""
