"""Whoever edits: brief in, commits out."""
