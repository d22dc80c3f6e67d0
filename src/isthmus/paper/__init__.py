"""Every figure, table and number of the paper, computed again: ``isthmus reproduce``.

One module for each experiment; each holds an ``EXPERIMENT``. Results are data first and drawn
second. The paper: C. Xu, J. Liu, X. Tang, "Clustering with Transitive Distance and K-Means
Duality", arXiv:0711.3594.
"""

from isthmus.paper.experiment import Claim, Experiment, Picture, Table, Task, Verdict

__all__ = ["Claim", "Experiment", "Picture", "Table", "Task", "Verdict"]
