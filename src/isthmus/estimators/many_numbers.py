"""One fit → the clusters for other numbers of them, as methods of an estimator."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from sklearn.utils.validation import check_is_fitted

from isthmus._utils.parameters import check_n_clusters, check_n_clusters_range, check_n_jobs
from isthmus._utils.progress import Stages
from isthmus._utils.typing import Floats, Labels
from isthmus.cut.agglomerative import linkage_of_joins
from isthmus.estimators.new_rows import NewRows
from isthmus.estimators.weighted_rows import WeightedRows
from isthmus.kmeans import Plan, TreeClusterer
from isthmus.model_selection.path import ClusterPath, Found, cluster_path
from isthmus.ultrametric import UltrametricTree


class ClustersForManyNumbers:
    """For an estimator whose fit leaves a tree, a plan and the rows behind."""

    verbose: Any
    tree_: UltrametricTree
    inertia_: float
    _fitted_plan: Plan
    _fitted_rows: WeightedRows
    _new_rows: NewRows
    _clusterer: TreeClusterer

    def labels_for(self, n_clusters: int) -> Labels:
        """Return the labels for another number of clusters, from the tree of the last fit.

        Parameters
        ----------
        n_clusters : int
            From 1 to the number of points (of those with a weight above 0).

        Returns
        -------
        ndarray of shape (n_samples,)
            What a new fit with this ``n_clusters`` would give (with random starts, if
            ``random_state`` was an int).
        """
        check_is_fitted(self)
        k = check_n_clusters(n_clusters, self.tree_.n_points)
        self._refuse_other_number(k)
        return self._found(replace(self._fitted_plan, n_clusters=k)).labels.copy()

    def path(self, k_min: int = 2, k_max: int = 20, *, n_jobs: int | None = None) -> ClusterPath:
        """Return the clusters for each of several numbers of them, and how good they are.

        All come from the tree of the last fit, and CUT's parts for all of them from one run.

        Parameters
        ----------
        k_min, k_max : int
            The smallest and the largest number of clusters, from 1 to the number of points (of
            those with a weight above 0).
        n_jobs : int, optional
            Threads, over which the numbers are shared; as the fit's, if None. Never changes the
            result.

        Returns
        -------
        ClusterPath
            Labels, inertia, sizes, margin and silhouette for each number. Labels and inertia are
            what a new fit would give (with random starts, if ``random_state`` was an int).
            Margins and silhouettes are by the distances of ``tree_``, before ``power``; weights
            count as repeated rows would.

        Examples
        --------
        >>> from isthmus import TransitiveClustering
        >>> points = [[0.0], [0.1], [0.2], [5.0], [5.1], [9.0], [9.2]]
        >>> TransitiveClustering(n_clusters=2).fit(points).path(2, 4)
        ClusterPath(7 rows, 2 to 4 clusters)
        k  silhouette  margin  inertia  sizes
        2      0.6756     0.9     58.6  4, 3
        3      0.9691     3.7     0.07  3, 2, 2
        4      0.6980     0.2     0.03  3, 2, 1, 1
        """
        check_is_fitted(self)
        low, high = check_n_clusters_range(k_min, k_max, self.tree_.n_points)
        for k in (low, high):
            self._refuse_other_number(k)
        plan = self._fitted_plan
        plans = plan.for_numbers(range(low, high + 1))
        self._ready_clusterer().prepare(plans[-1])
        return cluster_path(
            self.tree_,
            self._fitted_rows.point_weights,
            {plan.n_clusters: partial(self._found, plan) for plan in plans},
            n_jobs=plan.n_jobs if n_jobs is None else check_n_jobs(n_jobs),
            progress=Stages(self.verbose).stage("clusters"),
        )

    def hierarchy(self) -> Floats:
        """Return a hierarchy of the fitted rows: CUT from below, nested for all numbers.

        It has the weights and the power of the fit, and needs nothing else of its parameters.

        Returns
        -------
        ndarray of shape (n_fitted - 1, 4)
            A linkage matrix as SciPy's, of the rows with a weight above 0, numbered as in
            ``tree_``; see :func:`isthmus.cut_hierarchy`. :func:`isthmus.hierarchy_labels` makes
            labels of it.
        """
        check_is_fitted(self)
        clusterer = self._ready_clusterer()
        point_weights = self._fitted_rows.point_weights
        return linkage_of_joins(clusterer.tree, point_weights, clusterer.height_unit)

    def _refuse_other_number(self, n_clusters: int) -> None:
        """Raise ValueError where the fit knows no start for so many clusters."""
        plan = self._fitted_plan
        if plan.points is not None and plan.objective != "cut" and n_clusters != plan.n_clusters:
            raise ValueError(
                f"The fit began with {plan.n_clusters} given rows, which do not fit "
                f"{n_clusters} clusters. Fit with init='cut' to ask for other numbers of clusters."
            )

    def _found(self, plan: Plan) -> Found:
        """Return the clusters of a plan: those of the fit, or new ones on its tree."""
        rows = self._fitted_rows
        if plan.n_clusters == self._fitted_plan.n_clusters:
            labels = self._new_rows.labels
            return Found(labels, rows.fitted(labels), self.inertia_)
        clusterer = self._ready_clusterer()
        solution = clusterer.run(plan)
        labels = rows.labels(clusterer, self.tree_, solution.labels)
        return Found(labels, solution.labels, solution.inertia)

    def _ready_clusterer(self) -> TreeClusterer:
        """Return the clusterer of the fit, made again where the fit was loaded from a file."""
        if not hasattr(self, "_clusterer"):
            plan = self._fitted_plan
            self._clusterer = TreeClusterer(
                self.tree_,
                objective=plan.objective,
                power=plan.power,
                point_weights=self._fitted_rows.point_weights,
            )
        return self._clusterer
