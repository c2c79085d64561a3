"""What works with every estimator: load, memory, costs, suspicious rows, importances, figures."""
