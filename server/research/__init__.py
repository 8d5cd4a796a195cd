"""What `urbankg evaluate` measures beside the benchmarks: completion, urban texts, judging, methods."""
