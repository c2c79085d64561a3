"""The laboratory: the theory of boosting as tools to work with."""
