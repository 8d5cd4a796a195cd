"""What answers before the framework: lookups and plain updates."""
