"""A running server: settings, wiring, startup, telemetry. `context` is what all others may import."""
