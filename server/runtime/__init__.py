"""A running server: settings, wiring, start, telemetry."""
