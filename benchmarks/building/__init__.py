"""Documents whose facts are known, in any number, and which statements of a graph made of them are true."""
