"""The programs that the geometry benchmark is compared with, each where it is installed."""
