"""The parts of the GeoSPARQL compliance run."""
