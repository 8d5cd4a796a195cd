"""Commands for who operates a store or server: loading, backup, relations, inference, keys, settings."""
