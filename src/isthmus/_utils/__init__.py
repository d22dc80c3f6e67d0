"""What every package uses: threads, progress, memory limits, rounding, checks of parameters."""
