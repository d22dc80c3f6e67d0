"""The fault campaign: generated inputs against slow, obvious answers, for as long as you like.

``make fuzz SECONDS=600`` runs it. Five parts run at the same time, each in a process of its own:
trees, estimators, files, processes and new points. A part draws one case after the other, from the
seed and the number of the case alone, and checks what the library makes of it. What is wrong is
printed as a few lines of Python that show it.
"""
