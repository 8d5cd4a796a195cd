"""Review and proposals as people see them, over the package `curation`."""
