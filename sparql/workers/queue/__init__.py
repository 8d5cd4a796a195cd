"""Which query runs next: a fair queue by client, the workers, and the one kept for short queries."""
