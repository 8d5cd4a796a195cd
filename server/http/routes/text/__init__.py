"""Routes from text to graph and back: extractions, sources, jobs, traces, models, questions."""
