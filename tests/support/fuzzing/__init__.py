"""What `make fuzz` and its tests send: requests that no good client sends, and what became of them."""
