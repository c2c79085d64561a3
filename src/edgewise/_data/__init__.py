"""Inputs: X, y and weights become rows that the core can read, or raise an error."""
