"""What all tests share: cases of properties, and modules that are compiled once."""

import os
import sys

from hypothesis import settings

# The everyday run tries the same cases each time, so that its verdict is about the change at hand;
# `make search` draws new ones.
settings.register_profile("everyday", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile("everyday")

# The tests start hundreds of processes: where the environment forbids to keep compiled modules, each of them
# would compile some hundred files.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
