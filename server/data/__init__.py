"""Loading, relating, dumping and backing up."""
