"""The HTTP interface: application, bodies, pages, streaming, compression."""
