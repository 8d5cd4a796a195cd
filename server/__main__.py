"""`python -m server` is `urbankg`."""

from server.cli.entry import main

if __name__ == "__main__":
    main()
