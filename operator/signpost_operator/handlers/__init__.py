"""Thin handlers: they remember what the watches show, and bring about what resources ask for."""
