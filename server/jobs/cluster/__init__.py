"""Extraction on a Dask cluster: its workers, and what they exchange with the server. Imports no routes."""
