"""What drafts change: lines, tables and a picture."""
