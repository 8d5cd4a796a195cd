"""Whether the words of an English sentence say a relation of two of its names: `look.Wording`."""
