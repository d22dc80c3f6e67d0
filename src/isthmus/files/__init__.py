"""Values and arrays ↔ one file that holds no code; docs/file_format.md describes it."""
