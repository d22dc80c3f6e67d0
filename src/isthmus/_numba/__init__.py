"""All that touches Numba and llvmlite: kernels, intrinsics, vector instructions."""
