"""Routes of review, proposals, documents, and the rules in force."""
