"""The base class of the two clusterers: fit, and all that a fit can answer."""

from __future__ import annotations

import copy
import os
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from isthmus._utils.parameters import (
    check_n_clusters,
    check_n_clusters_range,
    check_n_jobs,
)
from isthmus._utils.progress import Stages
from isthmus._utils.typing import Floats, Labels
from isthmus.estimators.checked_input import check_new_input, check_new_table, input_tags
from isthmus.estimators.extension import check_extendable
from isthmus.estimators.fitted import (
    FittedModel,
    Settings,
)
from isthmus.estimators.fitting import Known, check_request, extend_clusters, find_clusters
from isthmus.estimators.persistence import load_model, save_model
from isthmus.metrics.table_extension import join_table
from isthmus.metrics.validation import check_sample_weight
from isthmus.model_selection.cluster_path import ClusterPath, cluster_path
from isthmus.model_selection.suggestion import Suggestion
from isthmus.spanning_tree import SpanningTree
from isthmus.summary.clusters import ClusterSummary
from isthmus.ultrametric import UltrametricTree

if TYPE_CHECKING:
    from isthmus.explorer import ExplorerPage
    from isthmus.summary.explanation import ClusterExplanations


class TransitiveClusterer(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """What :class:`TransitiveCut` and :class:`TransitiveKMeans` have in common.

    A fit leaves one record behind, ``_fitted``, which is assigned when the fit is complete.
    """

    n_clusters: int | str
    metric: str | Callable[..., float]
    metric_params: dict[str, Any] | None
    n_neighbors: int | None
    neighborhood: str
    engine: str
    disconnected: str | float
    noise: str | float | tuple[str, float] | None
    k_max: int
    n_jobs: int | None
    verbose: int | Callable[[str, int, int], Any]
    memory: Any
    memory_limit: int | str | None
    _fitted: FittedModel

    @abstractmethod
    def _settings(self) -> Settings:
        """Return the parameters of the clustering, unchecked."""

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: Any = None,
        *,
        neighbors: Any = None,
        must_link: Any = None,
        cannot_link: Any = None,
        partial_labels: Any = None,
    ) -> Self:
        """Find the spanning tree of X, its transitive distances, and the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points (arrays, pandas and polars frames; ``scipy.sparse`` matrices for Euclidean,
            cosine, angular and Hellinger distances). With ``metric="precomputed"`` distances, an
            array-like of shape (n_samples, n_samples) or (n_samples (n_samples - 1) / 2,), or a
            graph, a ``scipy.sparse`` matrix or array of shape (n_samples, n_samples). With
            ``metric="gower"`` also tables whose columns hold texts, categories, dates and missing
            values. With a callable metric also a list, or a 1-D array, of anything that it takes.
        y : ignored
            Present for scikit-learn's conventions; labels that are known are ``partial_labels``.
        sample_weight : array-like of shape (n_samples,) or float, optional
            How many equal points each row stands for: a finite number, not negative. An integer
            gives what that many copies of the row would give, wherever no copies are torn apart;
            only the ratios of weights matter to the labels. A row of weight 0 takes no part in
            the fit, and then gets the label that a new point would, see :meth:`predict`.
        neighbors : tuple, array or sparse graph, optional
            For ``engine="approximate"``: neighbours that you have found, as
            :func:`isthmus.minimum_spanning_tree` takes them.
        must_link : array-like of shape (n_pairs, 2), optional
            Pairs of row numbers that belong to one cluster: edges of length 0 of the tree.
        cannot_link : array-like of shape (n_pairs, 2), optional
            Pairs of row numbers that belong to two clusters. :class:`TransitiveCut` cuts an edge
            between them first; :class:`TransitiveKMeans` refuses them.
        partial_labels : array-like of shape (n_samples,), optional
            Labels that are known, from 0 on, and -1 where none is. Rows of one label belong to one
            cluster, those of different labels to different ones. As for ``cannot_link``.

        Returns
        -------
        self
        """
        known = Known(must_link, cannot_link, partial_labels)
        request = check_request(self, X, sample_weight, neighbors, known)
        try:
            fitted = find_clusters(self, request)
        except BaseException:  # Ctrl-C, too: never half of a fit
            self._forget()
            raise
        self._keep(fitted)
        return self

    def extend(self, X: Any, sample_weight: Any = None, *, match_labels: bool = False) -> Self:
        """Add rows to the fit: find what a fit on all rows, the old and then these, would find.

        The spanning tree is that of a fit on all rows, to the last bit, but the old tree is where
        the search begins. With few features, or distances that only a function or SciPy computes,
        this takes a fraction of a fit while the new rows are few. Otherwise, and wherever the
        result could differ, all rows are fitted again: with ``n_neighbors``, more than 8 features,
        variances estimated from the rows, tables whose ranges the new rows widen or that have no
        missing values, coordinates that repeat as on a lattice, a parameter that was changed since.
        If it fails, the model stays as it was.

        There is no ``partial_fit``: that forgets the rows of earlier calls, and a tree needs all.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New rows, of the kind that was fitted.
        sample_weight : array-like of shape (n_new,) or float, optional
            As for :meth:`fit`. Rows that were given no weight have 1.
        match_labels : bool, default=False
            Whether a cluster keeps its number where it persists: numbers are matched so that as
            many of the old rows as possible keep theirs. Otherwise clusters are numbered as by a
            fit.

        Returns
        -------
        self

        Examples
        --------
        >>> from isthmus import TransitiveCut
        >>> model = TransitiveCut(n_clusters=2).fit([[0.0], [1.0], [2.0], [10.0], [11.0]])
        >>> model.labels_.tolist()
        [0, 0, 0, 1, 1]
        >>> model.extend([[12.0], [10.5]], match_labels=True).labels_.tolist()
        [0, 0, 0, 1, 1, 1, 1]
        """
        if not isinstance(match_labels, bool | np.bool_):
            raise TypeError(f"match_labels must be True or False, got {match_labels!r}.")
        fitted = self._record
        check_extendable(fitted, self.metric)
        if fitted.columns is None:
            fitted, new = self._checked_new(X)
        else:
            check_new_table(self._as_of(fitted), X, fitted.columns)
            new = join_table(fitted.columns, fitted.points, X)
        self._keep(
            extend_clusters(self, fitted, new, sample_weight, match_labels=bool(match_labels))
        )
        return self

    def _keep(self, fitted: FittedModel) -> None:
        """Make a complete fit that of the estimator."""
        features = {"n_features_in_": fitted.n_features, "feature_names_in_": fitted.feature_names}
        for name, value in features.items():
            if value is None:
                self.__dict__.pop(name, None)
            else:
                setattr(self, name, value)
        self._fitted = fitted

    def _forget(self) -> None:
        for name in ("_fitted", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    @property
    def _record(self) -> FittedModel:
        """The record of the fit; NotFittedError, an AttributeError, where there is none."""
        fitted: FittedModel | None = vars(self).get("_fitted")
        if fitted is None:  # asked once: another thread may fit again meanwhile
            check_is_fitted(self)
            return self._fitted
        return fitted

    @property
    def labels_(self) -> Labels:
        """The cluster of each row; -1 for noise."""
        return self._record.public_labels

    @property
    def n_clusters_(self) -> int:
        """The number of clusters, given or suggested."""
        return self._record.n_clusters

    @property
    def inertia_(self) -> float:
        """The sum of squared distances to the centres."""
        return self._record.inertia

    @property
    def suggestion_(self) -> Suggestion:
        """Why there are as many clusters, where ``n_clusters="auto"``."""
        if self._record.suggestion is None:
            raise AttributeError("suggestion_ is there after a fit with n_clusters='auto'.")
        return self._record.suggestion

    @property
    def tree_(self) -> UltrametricTree:
        """All transitive distances."""
        return self._record.tree

    @property
    def spanning_tree_(self) -> SpanningTree:
        """The minimum spanning tree."""
        return self._record.spanning_tree

    @property
    def outlier_scores_(self) -> Floats:
        """How much of an outlier each row is, from 0 to 1."""
        return self._record.outlier_scores

    @property
    def noise_threshold_(self) -> float:
        """The outlier score above which rows are noise, where ``noise`` is not None."""
        if self._record.noise is None:
            raise AttributeError("noise_threshold_ is there after a fit with noise.")
        return self._record.noise.threshold

    @property
    def summary_(self) -> ClusterSummary:
        """The figures of each cluster."""
        return self._record.summary

    def predict(self, X: Any) -> Labels:
        """Return the clusters of new points; the fit stays as it is.

        A new point x is attached to the spanning tree of the fitted points: its transitive
        distance to a fitted point v is D(x, v) = min over u of max(d(x, u), D(u, v)).
        :class:`TransitiveCut` gives it the cluster of the nearest fitted point,
        :class:`TransitiveKMeans` that of the nearest centre. A point that equals a fitted one gets
        its label (of several, that of the first), so that ``predict(X)`` of the fitted points is
        ``labels_``, unless equal points were spread over clusters. With ``n_neighbors`` the
        neighbourhood of a new point is itself and its nearest fitted points. With ``noise`` a new
        point is noise, -1, where its outlier score among the fitted points is above
        ``noise_threshold_``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New points, of the kind that was fitted. With ``metric="precomputed"`` their distances
            to the points of the fit, an array-like or a ``scipy.sparse`` matrix of shape
            (n_new, n_samples), where what is not stored is no edge.

        Returns
        -------
        ndarray of shape (n_new,)

        Notes
        -----
        Up to 8 features: some microseconds for each point, after an index is built by the first
        call. Otherwise O(n_samples n_features) for each point.
        """
        fitted, new = self._checked_new(X)
        progress = Stages(self.verbose).stage("new points")
        return fitted.predictor.labels(new, check_n_jobs(self.n_jobs), progress)

    def transform(self, X: Any) -> Floats:
        """Return the distances of new points to the centres of the clusters.

        In the space of rows, whose coordinates are transitive distances to the fitted points; for
        ``TransitiveKMeans(space="embedding")`` in the embedded space. With weights each coordinate
        counts as often as its point. Where the fit has points that are infinitely far apart
        (``disconnected="join"``), a centre is at a finite distance only if its cluster lies in
        one component of the graph and the new point reaches that one alone.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            As for :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_new, n_clusters)
        """
        fitted, new = self._checked_new(X)
        progress = Stages(self.verbose).stage("distances")
        return fitted.predictor.distances(new, check_n_jobs(self.n_jobs), progress)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Floats:
        """Fit, and return the distances of all rows to the centres: ``fit(X).transform(X)``.

        Parameters as for :meth:`fit`.
        """
        return self.fit(X, y, sample_weight)._record.distances_to_centres()

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: ARG002
        """Return minus the sum of squared distances to the nearest centres, as of `transform`.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            As for :meth:`predict`.
        y : ignored
        sample_weight : array-like of shape (n_new,) or float, optional
            How often each point counts.
        """
        fitted, new = self._checked_new(X)
        progress = Stages(self.verbose).stage("distances")
        distances = fitted.predictor.distances(new, check_n_jobs(self.n_jobs), progress)
        nearest = distances.min(axis=1)
        weights = check_sample_weight(sample_weight, len(nearest), all_may_be_zero=True)
        with np.errstate(over="ignore", under="ignore"):
            squares = nearest**2
            return -float(squares.sum() if weights is None else squares @ weights)

    def _checked_new(self, X: Any) -> tuple[FittedModel, Any]:
        """Return the record of the fit, and new rows, checked against this record alone."""
        fitted = self._record
        probe = self._as_of(fitted)
        if fitted.columns is not None:
            new = check_new_table(probe, X, fitted.columns)
            return fitted.for_rows(new), new
        return fitted, check_new_input(probe, X, fitted.points, fitted.resolved_metric)

    def _as_of(self, fitted: FittedModel) -> Self:
        """Return a copy that another thread cannot fit again meanwhile."""
        probe = copy.copy(self)
        probe._keep(fitted)
        return probe

    def labels_for(self, n_clusters: int) -> Labels:
        """Return the labels for another number of clusters, from the tree of the last fit.

        Parameters
        ----------
        n_clusters : int
            From 1 to the number of points (of those with a weight above 0 that are not noise).

        Returns
        -------
        ndarray of shape (n_samples,)
            What a new fit with this ``n_clusters`` would give (with random starts, if
            ``random_state`` was an int); the same rows are noise. Those of :class:`TransitiveCut`
            are nested: each cluster for k is part of one for k - 1.
        """
        fitted = self._record
        k = check_n_clusters(n_clusters, fitted.clustered.tree.n_points)
        self._refuse_other_number(k)
        return fitted.labels_for(replace(fitted.settings, n_clusters=k)).copy()

    def path(self, k_min: int = 2, k_max: int = 20, *, n_jobs: int | None = None) -> ClusterPath:
        """Return the clusters for each of several numbers of them, and how good they are.

        All come from the tree of the last fit, and CUT's parts for all of them from one run.

        Parameters
        ----------
        k_min, k_max : int
            The smallest and the largest number of clusters, from 1 to the number of points (of
            those with a weight above 0 that are not noise).
        n_jobs : int, optional
            Threads, over which the numbers are shared; as the fit's, if None. Never changes the
            result.

        Returns
        -------
        ClusterPath
            Labels, inertia, sizes, margin and silhouette for each number. Labels and inertia are
            what a new fit would give (with random starts, if ``random_state`` was an int).
            Margins and silhouettes are by the distances of ``tree_``; weights count as repeated
            rows would. The same rows are noise for each number, and count in labels alone.

        Examples
        --------
        >>> from isthmus import TransitiveCut
        >>> points = [[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.2]]
        >>> TransitiveCut(n_clusters=2).fit(points).path(2, 4)
        ClusterPath(7 rows, 2 to 4 clusters)
        k  silhouette  margin  inertia  sizes
        2      0.6756     0.9     58.6  4, 3
        3      0.9691     3.7     0.07  3, 2, 2
        4      0.6980     0.2     0.03  3, 2, 1, 1
        """
        fitted = self._record
        low, high = check_n_clusters_range(k_min, k_max, fitted.clustered.tree.n_points)
        for k in (low, high):
            self._refuse_other_number(k)
        all_settings = fitted.settings.for_numbers(range(low, high + 1))
        fitted.prepare(all_settings[-1])
        return cluster_path(
            fitted.clustered.tree,
            fitted.clustered.point_weights,
            {each.n_clusters: partial(fitted.found_for, each) for each in all_settings},
            n_jobs=check_n_jobs(self.n_jobs if n_jobs is None else n_jobs),
            progress=Stages(self.verbose).stage("clusters"),
        )

    def explore(
        self,
        X: Any = None,
        *,
        path: str | os.PathLike[str] | None = None,
        coordinates: Any = None,
        hover: Any = None,
        images: str | None = None,
        k_max: int = 20,
        max_points: int = 100_000,
        title: str | None = None,
    ) -> ExplorerPage:
        """Return a page on which to see the clusters and to choose their number.

        The page is one HTML file that needs no network and no server: the points, a slider for the
        number of clusters, a dendrogram whose branches can be divided, the evidence for each
        number, a table of the clusters, outliers, and the path between any two points.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_columns), optional
            What to show of each row: numbers to draw and to compare clusters by, and texts. By
            default the points that were fitted.
        path : str or path, optional
            Where to write the page. Without it nothing is written: a notebook shows the page, and
            its ``save(path)`` writes it.
        coordinates : array-like of shape (n_samples, 2), or two names of columns, optional
            Where to draw the points at first, such as UMAP's coordinates. By default the only two
            columns, or two principal components. Needed where distances or objects were fitted.
        hover : list of str, optional
            The columns of X to show for the point under the pointer; the row's number if None.
        images : str, optional
            The column of X with a picture of each row: paths of files, or data URIs.
        k_max : int, default=20
            The largest number of clusters on the slider.
        max_points : int, default=100_000
            The most points to draw. Of more rows the page shows a sample in which every cluster,
            every small branch and the outliers are; it says so, and counts all rows.
        title : str, optional

        Returns
        -------
        ExplorerPage
        """
        from isthmus.estimators.exploring import clustering_of, columns_to_show
        from isthmus.explorer.api import make_page
        from isthmus.explorer.figure import require_bokeh
        from isthmus.explorer.options import check_options, check_path

        fitted, target = self._record, check_path(path)
        require_bokeh()
        columns = columns_to_show(fitted, X)
        options = check_options(columns, coordinates, hover, images, max_points, title)
        return make_page(clustering_of(self, fitted, k_max), options, target)

    def explain(
        self, X: Any = None, *, max_depth: int = 3, n_listed: int = 3
    ) -> ClusterExplanations:
        """Return why each cluster is one: features, a rule, representatives, and its neighbour.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_columns), optional
            The numbers to explain clusters by, of all rows; columns that are no numbers are left
            out. By default the points that were fitted.
        max_depth : int, default=3
            The most conditions of a rule: the depth of scikit-learn's decision tree for it.
        n_listed : int, default=3
            How many features and rows are listed for each cluster.

        Returns
        -------
        ClusterExplanations
            ``explanations[c]`` is that of cluster c, and ``print`` shows all. Rows of weight 0 and
            noise take no part. Nothing is kept: each call computes it anew.

        Examples
        --------
        >>> from isthmus import TransitiveCut
        >>> points = [[0.0, 3.0], [0.1, 2.0], [0.2, 4.0], [5.0, 3.0], [5.1, 2.0]]
        >>> print(TransitiveCut(n_clusters=2).fit(points).explain()[1])
        cluster 1: 2 rows
          x0: 5.05, others 0.1 (+2.0 σ)
          x1: 2.5, others 3 (-0.7 σ)
          rule: x0 > 2.6 (precision 1.00, recall 1.00)
          typical rows: 3, 4
          boundary rows: 3
          nearest: cluster 0, from row 3 to row 2, 4.903 away
        """
        from isthmus.estimators.explaining import explain_clusters

        return explain_clusters(self._record, X, max_depth, n_listed)

    def _refuse_other_number(self, n_clusters: int) -> None:
        """Raise ValueError where the fit rules out as many clusters."""
        self._record.refuse_number(n_clusters)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that :meth:`load` reads.

        The file holds numbers and strings and no code: see
        :doc:`The file format </file_format>`. It appears under its name only when it is complete.
        A metric that is a function cannot be saved: TypeError, and no file is written.
        """
        save_model(self, self._record, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the fitted model that :meth:`save` wrote.

        Nothing is unpickled, and nothing in the file can make Python run code. ValueError, with
        the reason, where the file is damaged, not of isthmus, or of another version's format.
        """
        estimator, fitted = load_model(cls, path)
        estimator._keep(fitted)
        return estimator

    @property
    def _n_features_out(self) -> int:
        """How many names ``get_feature_names_out`` returns."""
        return self._record.n_clusters

    def __sklearn_tags__(self) -> Any:
        return input_tags(super().__sklearn_tags__(), self.metric)

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """Show the summary below scikit-learn's diagram, in notebooks."""
        diagram = super()._repr_html_  # AttributeError where scikit-learn is set to display text
        if not self.__sklearn_is_fitted__():
            return diagram  # type: ignore[no-any-return]
        return lambda: diagram() + self.summary_._repr_html_()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Likewise, where all forms are asked for at once."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and self.__sklearn_is_fitted__():
            bundle["text/html"] += self.summary_._repr_html_()
        return bundle
