"""Judging by people, and by a model that is compared with them (UrbanKGent, section 5.1.4)."""
