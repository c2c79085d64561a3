"""edgewise beside its peers: `python -m benchmarks --help`."""
