"""The command line `urbankg`: one file per group of commands."""
