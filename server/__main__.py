"""`python -m server` is `urbankg`."""

from server.entry import main

if __name__ == "__main__":
    main()
