"""What clients write themselves: updates, their warnings and review items, place checks."""
