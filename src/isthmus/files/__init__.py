"""Model files, which hold no code (docs/file_format.md), and atomic writes."""
