"""What a model agrees to, in the words it is given."""
