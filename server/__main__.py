"""`python -m server` is `urbankg`."""

from server.cli import main

if __name__ == "__main__":
    main()
