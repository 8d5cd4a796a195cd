"""Which query runs next: a queue that is fair to clients, the workers, and the one kept for short queries."""
