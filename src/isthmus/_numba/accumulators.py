"""What distance kernels accumulate over the features of two points."""

# The sum of squared differences, the sum and the maximum of absolute ones, the Minkowski distance.
SQUARES, ABSOLUTES, MAXIMUM, POWERS = range(4)
