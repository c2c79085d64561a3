"""The parts of AutoBoost: folds, members, their weights, and the expected error."""
