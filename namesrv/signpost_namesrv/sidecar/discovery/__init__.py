"""Finding the name servers: sources that look, and the roster that judges what they saw."""
