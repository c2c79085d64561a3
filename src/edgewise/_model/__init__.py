"""What comes out: models as plain arrays, their files, and what they say of themselves."""
