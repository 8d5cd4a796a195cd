"""Rule inference kept in the graph: the rules, the chase that follows changes, and the store's side of it."""
