"""New points → attachment edges → labels and distances."""
