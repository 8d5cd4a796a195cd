"""Bodies of requests and answers: read within bounds, in parts, compressed, streamed, as events."""
