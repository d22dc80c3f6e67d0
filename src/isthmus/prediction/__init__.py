"""New points → clusters, and distances to their centres.

attachments.py      what an attachment edge is, and the transitive distances that follow from it
attach.py           which search finds the attachment edges of new points: attach_by_kdtree.py
                    (with kdtree_candidates.py), attach_by_rows.py, or attach_with_neighbors.py
                    where the fit was of neighbourhoods
ancestor_paths.py   attachment edges → path segments
cluster_centres.py  path segments → distances to centres (centre_distances.py, centre_sums.py) →
                    clusters
"""
