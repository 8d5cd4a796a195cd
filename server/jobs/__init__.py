"""Jobs: extraction from many documents, safe across crashes. May import `intake`, no routes."""
