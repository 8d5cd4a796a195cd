"""Judging by people, and by a model that is compared with them (methods U12)."""
