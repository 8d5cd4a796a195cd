"""Writes the generated pages."""

from server.cli.reference.pages import FOLDER, pages

if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
