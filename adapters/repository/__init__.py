"""The target repository: every git command passes here."""
