"""Common ground: errors, checks of parameters, complete files."""
