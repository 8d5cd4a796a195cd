"""Commands of review, proposals, held batches and entities."""
