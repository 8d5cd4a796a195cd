"""The process that works out what an update would change, on a clone that follows the store."""
