"""How well questions are answered: reading of question files, a graph in memory, scores."""
