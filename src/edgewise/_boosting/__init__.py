"""How a model comes about: the rounds, what they grow from, and the estimator around them."""
