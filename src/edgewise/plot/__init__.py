"""Pictures of fitted models and their predictions, as displays in the style of scikit-learn."""
