# Only for other kernels.
