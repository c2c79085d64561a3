"""Models as plain arrays, their files, and their descriptions."""
