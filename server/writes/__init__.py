"""Clients' own writes on their way to the writer."""
