"""New rows → attachment edges → clusters, and distances to the centres."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isthmus._utils.parallel import Workers, chunks
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Array, Floats, Labels
from isthmus.metrics.precomputed import NewDistances
from isthmus.prediction.attach_by_rows import AttachmentSearch
from isthmus.prediction.attachments import Attachments
from isthmus.prediction.cluster_centres import ClusterCentres


class Predictor:
    """The rows of a fit, indexed for rows that were not in it.

    Parameters
    ----------
    search : AttachmentSearch
        Of the rows on the tree.
    centres : ClusterCentres
        The centres of the clusters.
    by_nearest_row : bool
        Whether new rows belong to the cluster of the nearest row, rather than to the nearest
        centre.
    """

    def __init__(
        self, search: AttachmentSearch, centres: ClusterCentres, *, by_nearest_row: bool
    ) -> None:
        self._search = search
        self._centres = centres
        self._by_nearest_row = by_nearest_row

    def labels(self, new: Any, n_jobs: int = 1, progress: Progress | None = None) -> Labels:
        """Return the clusters of checked new rows: (n_new,)."""
        out = np.empty(_length(new), dtype=np.int32)
        only_nearest = self._by_nearest_row
        self._fill(out, new, self.labels_of, n_jobs, progress, only_nearest=only_nearest)
        return out

    def distances(self, new: Any, n_jobs: int = 1, progress: Progress | None = None) -> Floats:
        """Return the distances of checked new rows to the centres: (n_new, n_clusters)."""
        out = np.empty((_length(new), self._centres.n_clusters))
        self._fill(out, new, self.distances_of, n_jobs, progress, only_nearest=False)
        return out

    def labels_of(self, attachments: Attachments) -> Labels:
        """Return the clusters of attached rows."""
        if self._by_nearest_row:
            labels: Labels = self._centres.labels[attachments.nearest]
            return labels
        return self._centres.label(attachments)

    def distances_of(self, attachments: Attachments) -> Floats:
        """Return the distances of attached rows to the centres."""
        return self._centres.distances(attachments)

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
