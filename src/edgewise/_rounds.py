"""What a fitted estimator tells round by round, as figures: learning curve, margins, history."""
