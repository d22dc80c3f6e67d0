"""What the paper proves, as functions that check it on a tree."""

from isthmus.theory.convex_hulls import ConvexHullCertificate, convex_hull_certificate

__all__ = ["ConvexHullCertificate", "convex_hull_certificate"]
