"""The paper's theory as tools: orders, consistency, separating hyperplanes, K-means duality."""

from isthmus.theory.consistency import Consistency, consistency
from isthmus.theory.convex_hulls import ConvexHullCertificate, convex_hull_certificate
from isthmus.theory.duality import DualityGap, duality_gap
from isthmus.theory.partitions import ConsistentPartitions, consistent_partitions
from isthmus.ultrametric import stopping_orders, transitive_distances, transitive_sequence

__all__ = [
    "Consistency",
    "ConsistentPartitions",
    "ConvexHullCertificate",
    "DualityGap",
    "consistency",
    "consistent_partitions",
    "convex_hull_certificate",
    "duality_gap",
    "stopping_orders",
    "transitive_distances",
    "transitive_sequence",
]
