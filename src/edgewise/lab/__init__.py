"""The laboratory: tools for the theory of boosting."""
