"""What `benchmarks/hostile.py` tries against a server: each attack says whether the server held."""
