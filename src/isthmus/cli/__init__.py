"""The command ``isthmus``: one module per command, one per step from file to file."""
