"""The language models that UrbanKG can talk to: a Protocol, its adapters, and what calls cost."""
