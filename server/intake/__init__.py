"""Texts and candidate statements on their way to the gate."""
