"""New points → clusters, and distances to their centres.

attachments.py      what an attachment edge is, and the transitive distances that follow from it
attach.py           new points → attachment edges, by attach_by_kdtree.py or attach_by_rows.py
ancestor_paths.py   attachment edges → path segments
cluster_centres.py  path segments → distances to centres (centre_distances.py) → clusters
"""
