"""The ASGI application, the command line and the jobs; wires all other packages. Nothing imports it."""
