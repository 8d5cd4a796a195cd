"""Commands that extract: records, jobs, models, prompts, traces."""
