"""The engines behind the gate: compiled tests, and pySHACL, which has the last word."""
