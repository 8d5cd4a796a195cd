"""Decisions of people about review items, and their undoing. May import all of `curation` but `merging`."""
