"""What everything stands on: errors, checks of parameters, files that are whole."""
