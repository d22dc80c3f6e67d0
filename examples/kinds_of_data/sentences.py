"""
Sentences
=========

Texts become vectors, and vectors are compared by their angles: ``metric="angular"``. A sentence
model gives better vectors than the word counts here; the rest stays the same. Neighbourhoods
(``n_neighbors``) take the noise out of single distances.
"""

import matplotlib.pyplot as plt
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from isthmus import NeighborMean, TransitiveCut

sentences = """
My card was stolen, please block the card
Please block my stolen card today
I lost my card, can you block it
The card is lost, so send a new card
How do I block a stolen card
Which currency can I exchange here
Can I exchange one currency for another currency
What is the exchange rate of this currency
The exchange rate for my currency was wrong
Which rate do you use to exchange currency
I forgot my password and cannot log in
How do I reset the password
Reset my password so that I can log in
The password does not work when I log in
My log in fails, please reset the password
When will the transfer arrive in my account
The transfer did not arrive in the account
Why does a transfer to an account take days
My account shows no transfer yet
A transfer from my account is pending
""".strip().splitlines()

vectors = make_pipeline(
    TfidfVectorizer(stop_words="english"), TruncatedSVD(6, random_state=0)
).fit_transform(sentences)
model = TransitiveCut(n_clusters=4, metric="angular", n_neighbors=4).fit(vectors)

for cluster in range(4):
    print(f"cluster {cluster}; the most typical: {sentences[model.summary_.medoids[cluster]]}")
    for sentence, label in zip(sentences, model.labels_, strict=True):
        if label == cluster:
            print("   ", sentence)

# %%
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
plane = PCA(2).fit_transform(NeighborMean(4, metric="angular").fit_transform(vectors))
ax.scatter(*plane.T, c=model.labels_, cmap="tab10", vmax=9)
ax.set(xticks=[], yticks=[], title="means of neighbourhoods, two principal components")

# %%
# :doc:`/embeddings` has what to choose for thousands of texts, and how good the result is.
