"""Ontologies and shapes that others wrote, and two in the form of such."""
