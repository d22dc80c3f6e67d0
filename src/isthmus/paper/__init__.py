"""Every figure, table and number of the paper, computed again: ``isthmus reproduce``.

Each module of the name of an experiment holds a TITLE, an ABOUT and the functions tasks, claims,
tables and pictures: tasks compute results as data, and the others turn results into a report. The
paper: C. Xu, J. Liu, X. Tang, "Clustering with Transitive Distance and K-Means Duality",
arXiv:0711.3594.
"""

from isthmus.paper.experiment import Claim, Experiment, Picture, Table, Task, Verdict

__all__ = ["Claim", "Experiment", "Picture", "Table", "Task", "Verdict"]
