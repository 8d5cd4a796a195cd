"""What `bulk_load.py` measures with: made-up data and processes whose cost is known."""
