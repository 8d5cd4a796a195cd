"""Asking in plain words: link the names, plan under the linked choices, compile, run, answer."""
