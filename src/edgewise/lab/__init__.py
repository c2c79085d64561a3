"""The laboratory: the theory of boosting as working tools."""
