"""The process that computes the changes of an update, on a clone that follows the store."""
