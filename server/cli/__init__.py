"""The command line `urbankg`: one file per group of commands. May import everything."""
