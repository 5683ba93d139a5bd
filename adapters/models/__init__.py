"""Models and what they are given to work with: their tools, their conversation, their families."""
