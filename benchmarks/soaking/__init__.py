"""The parts of the soak: clients with a mixed load, readings of processes and disk, and the verdict."""
