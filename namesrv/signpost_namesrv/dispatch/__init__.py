"""What each request code means: wire commands in, changes to the tables, wire commands out."""
