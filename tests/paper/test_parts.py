import pytest

from isthmus.cli import main
from isthmus.paper.experiment import PARTS, load_experiment


@pytest.mark.parametrize("name", PARTS)
def test_every_part_is_an_experiment_of_its_name(name):
    experiment = load_experiment(name)
    assert experiment.name == name
    assert experiment.title
    for quick in (False, True):
        tasks = experiment.tasks(quick)
        assert len({task.name for task in tasks}) == len(tasks) > 0


def test_the_whole_paper_quickly(tmp_path, capsys):
    assert main.run(["reproduce", "--quick", "--quiet", "-o", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for name in PARTS:
        assert f"\n{name}: " in f"\n{out}"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<section") == len(PARTS)
    assert page.count("<figure>") == len(list((tmp_path / "figures").iterdir())) >= len(PARTS)
