"""What `benchmarks/fuzz.py` sends: requests that a good client would never send, and what came of them."""
