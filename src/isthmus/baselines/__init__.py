"""What the paper compares with: two spectral methods, single linkage, and sweeps of parameters."""

from isthmus.baselines.njw import NJWSpectralClustering
from isthmus.baselines.self_tuning import SelfTuningSpectralClustering
from isthmus.baselines.single_linkage import SingleLinkage
from isthmus.baselines.sweeps import NEIGHBOR_GRID, SIGMA_GRID, Sweep, sweep

__all__ = [
    "NEIGHBOR_GRID",
    "SIGMA_GRID",
    "NJWSpectralClustering",
    "SelfTuningSpectralClustering",
    "SingleLinkage",
    "Sweep",
    "sweep",
]
