"""Literals outside their datatype's lexical space: what the specifications say, and many at once."""
