"""What `make hostile` and its tests try: each attack reports whether the server held."""
