"""The guard of speed: instructions of small fits, compared with a committed baseline."""
