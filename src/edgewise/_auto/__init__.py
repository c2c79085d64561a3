"""The parts of AutoBoost: folds, members, the choice among them, and what to expect of it."""
