"""What the benchmarks over HTTP share: data, servers, load, readings of processes."""
