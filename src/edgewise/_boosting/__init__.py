"""The fitting of a model: the rounds, their inputs, and the estimator around them."""
