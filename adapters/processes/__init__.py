"""Other people's programs: every subprocess starts here."""
