"""The paper's theory as tools: consistency, hulls that do not intersect, the duality of K-means."""

from isthmus.theory.consistency import Consistency, consistency
from isthmus.theory.convex_hulls import ConvexHullCertificate, convex_hull_certificate
from isthmus.theory.duality import DualityGap, duality_gap
from isthmus.theory.partitions import ConsistentPartitions, consistent_partitions

__all__ = [
    "Consistency",
    "ConsistentPartitions",
    "ConvexHullCertificate",
    "DualityGap",
    "consistency",
    "consistent_partitions",
    "convex_hull_certificate",
    "duality_gap",
]
