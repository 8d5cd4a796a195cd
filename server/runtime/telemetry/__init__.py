"""What a server reports of itself: logs, metrics, one line for each request."""
