"""Measures completion: the model's relation of two places against the computed one."""
