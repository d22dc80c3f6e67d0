"""The tasks of a quick run, one after another, as their results come back from disk."""

from isthmus.paper.store import plain


def quick_results(experiment):
    return {task.name: plain(task.function(**task.parameters)) for task in experiment.tasks(True)}


def check_report(experiment, results):
    """Check that everything a report shows can be made from results, and return the pictures."""
    for claim in experiment.claims(results):
        assert all((claim.text, claim.paper, claim.ours, claim.reason))
    for table in experiment.tables(results):
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.headings)}
        assert all(isinstance(cell, str) for row in table.rows for cell in row)
    pictures = experiment.pictures(results)
    for picture in pictures:
        picture.figure.draw_without_rendering()
    return {picture.name: picture.figure for picture in pictures}
