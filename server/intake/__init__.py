"""From texts and candidate statements to judged commits. Imports no jobs, and routes never."""
