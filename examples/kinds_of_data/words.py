"""
Words, by edit distance
=======================

Any Python function of two objects can be the metric: here the edit distance of words, the least
number of letters to insert, remove or replace.
"""

import matplotlib.pyplot as plt

from isthmus import TransitiveCut, plotting


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        previous, row[0] = row[0], i
        for j, other in enumerate(b, start=1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (letter != other))
    return row[-1]


words = """
    kitten mitten bitten smitten written   house mouse blouse grouse spouse
    clustering clusters cluster clustered   nation station ration notation
""".split()
model = TransitiveCut(n_clusters=4, metric=edit_distance).fit(words)
for cluster in range(4):
    print([word for word, label in zip(words, model.labels_, strict=True) if label == cluster])

# %%
# The hierarchy of the same words:

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
plotting.plot_dendrogram(model.tree_, model.labels_, ax=ax)
leaves = [words[i] for i in model.tree_.leaf_order]
ax.set_xticks(ax.get_xticks(), leaves, rotation=60, ha="right")
ax.set(xlabel="", title="words that a few letters turn into each other join low")
