"""Measuring extraction and completion against gold: Text2KGBench, our own texts, judges, costs."""
