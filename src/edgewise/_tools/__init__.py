"""Tools for every estimator: load, memory, costs, suspicious rows, importances, figures."""
