"""Parts that the algorithms of a family share: the log loss, the adaptive base class, votes."""
