"""The HTTP routes, one file per noun; each has `router(services)`."""
