"""Theory as tools: what boosting does, and why, to look at and to check."""
