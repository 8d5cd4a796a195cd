"""Errors, reports and statements as the client reads them."""
