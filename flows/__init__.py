"""What next: one flow per decision record; each reads like its record."""
