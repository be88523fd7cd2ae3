"""The Signpost operator."""
