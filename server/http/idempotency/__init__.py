"""POST requests that may be repeated (`Idempotency-Key`): the second one gets the first one's reply."""
