"""Review and proposals as people see them."""
