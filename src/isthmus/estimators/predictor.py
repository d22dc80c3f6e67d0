"""New rows → attachment edges → clusters, and distances to the centres."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.parallel import Workers, chunks
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Array, Floats, Labels
from isthmus.estimators.noise import NOISE, ClusteredTree
from isthmus.metrics.precomputed import NewDistances
from isthmus.noise.threshold import is_above
from isthmus.prediction.attach_by_rows import AttachmentSearch
from isthmus.prediction.attachments import Attachments
from isthmus.prediction.cluster_centres import ClusterCentres
from isthmus.prediction.outlier_scores import OutlierScorer


class NewNoise(NamedTuple):
    """What decides whether new rows are noise.

    Attributes
    ----------
    scorer : OutlierScorer
        Of the rows on the tree.
    threshold : float
        Rows of a higher outlier score are noise.
    is_noise : (n,) bool
        Which rows on the tree are.
    clustered : ClusteredTree
        The tree of those that are not.
    """

    scorer: OutlierScorer
    threshold: float
    is_noise: Array
    clustered: ClusteredTree

    def marked(self, labels: Labels, attachments: Attachments) -> Labels:
        """Return the labels of attached rows with -1 for noise; equal rows are treated alike."""
        known = self.is_noise[attachments.nearest]
        new = attachments.length[attachments.begin[:-1]] > 0.0
        is_noise = np.where(new, is_above(self.scorer.scores(attachments), self.threshold), known)
        return np.where(is_noise, np.int32(NOISE), labels)


class Predictor:
    """The rows of a fit, indexed for rows that were not in it.

    Parameters
    ----------
    search : AttachmentSearch
        Of the rows on the tree.
    centres : ClusterCentres
        The centres of the clusters.
    labels : (n,) int32, optional
        The clusters of the rows on the tree, where new rows belong to the cluster of the nearest
        row, rather than to the nearest centre.
    noise : NewNoise, optional
        Where rows may be noise.
    """

    def __init__(
        self,
        search: AttachmentSearch,
        centres: ClusterCentres,
        labels: Labels | None,
        noise: NewNoise | None = None,
    ) -> None:
        self._search = search
        self._centres = centres
        self._labels = labels
        self._noise = noise

    def labels(self, new: Any, n_jobs: int = 1, progress: Progress | None = None) -> Labels:
        """Return the clusters of checked new rows, -1 for noise: (n_new,)."""
        out = np.empty(_length(new), dtype=np.int32)
        only_nearest = self._labels is not None and self._noise is None
        if self._noise is not None:
            self._noise.scorer.prepare()
        self._fill(out, new, self.labels_of, n_jobs, progress, only_nearest=only_nearest)
        return out

    def distances(self, new: Any, n_jobs: int = 1, progress: Progress | None = None) -> Floats:
        """Return the distances of checked new rows to the centres: (n_new, n_clusters)."""
        out = np.empty((_length(new), self._centres.n_clusters))
        self._fill(out, new, self.distances_of, n_jobs, progress, only_nearest=False)
        return out

    def labels_of(self, attachments: Attachments) -> Labels:
        """Return the clusters of attached rows, -1 for noise."""
        if self._labels is not None:
            labels: Labels = self._labels[attachments.nearest]
        else:
            labels = self._centres.label(self._moved(attachments))
        return labels if self._noise is None else self._noise.marked(labels, attachments)

    def distances_of(self, attachments: Attachments) -> Floats:
        """Return the distances of attached rows to the centres."""
        return self._centres.distances(self._moved(attachments))

    def _moved(self, attachments: Attachments) -> Attachments:
        return attachments if self._noise is None else self._noise.clustered.moved(attachments)

    def _fill(
        self,
        out: Array,
        new: Any,
        function: Callable[[Attachments], Array],
        n_jobs: int,
        progress: Progress | None,
        *,
        only_nearest: bool,
    ) -> None:
        """Fill out by a function of attachments; no row depends on which others there are."""
        find = self._search.prepare(new, only_nearest=only_nearest, n_jobs=n_jobs)
        attached_together = together = self._search.n_together
        if not only_nearest:
            self._centres.prepare()
            together = max(together, self._centres.n_together)
        done = [0] * n_jobs

        def work(worker: int, start: int, stop: int) -> None:
            blocks = chunks(stop - start, attached_together)
            found = [find(np.arange(start + a, start + b)) for a, b in blocks]
            out[start:stop] = function(Attachments.joined(found))
            done[worker] += stop - start
            if worker == 0 and progress is not None and sum(done) < len(out):
                progress(sum(done), len(out))

        with Workers(n_jobs) as workers:
            workers.in_blocks(len(out), together, work)
        if progress is not None:
            progress(len(out), len(out))


def _length(new: Array | list[Any] | NewDistances) -> int:
    return len(new) if isinstance(new, list) else int(new.shape[0])
