"""Who may do what, and how much of it: keys, scopes, rate limits."""
