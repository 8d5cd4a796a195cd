"""What all tests share: whether properties are tried with the same cases each time."""

from hypothesis import settings

# The everyday run tries the same cases each time, so that its verdict is about the change at hand;
# `make search` draws new ones.
settings.register_profile("everyday", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile("everyday")
