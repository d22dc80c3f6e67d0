"""The explorer page in a real browser, opened from disk without a network."""

import csv
import io
import json
import time

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from chromium import start_chromium, wait_for
from isthmus import TransitiveCut, TransitiveKMeans
from isthmus.datasets import make_two_moons

mpl.use("Agg")

from matplotlib import pyplot as plt

HOSTILE = "<script>window.hacked = 1</script></script><img src=x onerror='window.hacked=2'>"
N_ROWS = 240


class Page:
    """A page in the browser, and what tests do with it."""

    def __init__(self, chromium):
        self.chromium = chromium

    def open(self, path):
        self.chromium.get(path.as_uri())
        wait_for(lambda: self.run("return document.documentElement.dataset.ready"))
        return self

    def run(self, script, *arguments):
        return self.chromium.execute_script(script, *arguments)

    def text(self, name):
        return self.run("return document.getElementById(arguments[0]).textContent", name)

    def click(self, name):
        self.run("document.getElementById(arguments[0]).click()", name)

    def slide(self, name, value):
        self.run(
            "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
            "s.dispatchEvent(new Event('input', {bubbles: true}))",
            name,
            value,
        )

    def labels(self):
        return np.array(self.run("return [...Explorer.app.partition.labelsOfRows()]"))

    def table(self):
        """Return the rows of the table of clusters, as texts."""
        return self.run(
            "return [...document.querySelectorAll('#clusters tbody tr')].map("
            "tr => [...tr.cells].map(td => td.textContent))"
        )

    def colours(self):
        return self.run("return Explorer.app.partition.colours")

    def click_branch(self, node):
        self.run(
            "document.querySelector(`[data-node='${arguments[0]}']`)"
            ".dispatchEvent(new MouseEvent('click', {bubbles: true}))",
            int(node),
        )

    def on_screen(self, points):
        """Return where points are in the window, from what Bokeh says about two places."""
        from selenium.webdriver import ActionChains

        self.run(
            "window.seen = []; if (!window.watched) { window.watched = true;"
            "Explorer.app.points.plot.on_event('mousemove', e => window.seen.push([e.x, e.y])) }"
        )
        box = self.run(
            "const r = document.getElementById('plot').getBoundingClientRect();"
            "return [r.x, r.y, r.width, r.height]"
        )
        places = [[int(box[i] + f * box[i + 2]) for i in (0, 1)] for f in (0.3, 0.6)]
        found = []
        for place in places:
            ActionChains(self.chromium).w3c_actions.pointer_action.move_to_location(*place)
            actions = ActionChains(self.chromium)
            actions.w3c_actions.pointer_action.move_to_location(*place)
            self.run("window.seen.length = 0")
            actions.perform()
            found.append(wait_for(lambda: self.run("return window.seen.at(-1)")))
        (a, b), (first, second) = np.array(places, float), np.array(found)
        scale = (b - a) / (second - first)
        return a + (np.asarray(points) - first) * scale

    def click_at(self, place):
        from selenium.webdriver import ActionChains

        actions = ActionChains(self.chromium)
        actions.w3c_actions.pointer_action.move_to_location(*map(round, place))
        actions.w3c_actions.pointer_action.click()
        actions.perform()

    def errors(self):
        """Return what the console holds beside information, and requests for other hosts."""
        logged = [
            entry["message"]
            for entry in self.chromium.get_log("browser")
            if entry["level"] == "SEVERE"
            or ("[bokeh" in entry["message"] and entry["level"] == "WARNING")
        ]
        messages = [
            json.loads(each["message"])["message"] for each in self.chromium.get_log("performance")
        ]
        urls = [
            each["params"]["request"]["url"]
            for each in messages
            if each["method"] == "Network.requestWillBeSent"
        ]
        return logged, [url for url in urls if url.startswith(("http", "ws", "ftp"))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("explorer")


@pytest.fixture(scope="module")
def chromium(folder):
    driver = start_chromium(folder)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def frame():
    """Three clouds and an outlier, with hostile texts and names of columns."""
    rng = np.random.default_rng(0)
    clouds = [rng.normal(at, 0.4, size=(N_ROWS // 3, 2)) for at in ([0, 0], [6, 0], [0, 6])]
    points = np.vstack(clouds)
    points[-1] = [14.0, 14.0]
    kinds = np.repeat(["a", "b", "c"], N_ROWS // 3)
    return pd.DataFrame(
        {
            "x": points[:, 0],
            HOSTILE: points[:, 1],
            "kind": kinds,
            "text": [HOSTILE if i % 2 else f'=1+1,"row" {i}' for i in range(N_ROWS)],
        }
    )


@pytest.fixture(scope="module")
def model(frame):
    return TransitiveCut(3).fit(frame.iloc[:, :2])


@pytest.fixture(scope="module")
def opened(chromium, folder, frame, model):
    path = folder / "page.html"
    model.explore(frame, path=path, hover=["text", "kind"], title=HOSTILE)
    return Page(chromium).open(path)


@pytest.fixture
def page(opened):
    """The page of the clouds, as it is at first."""
    opened.run("Explorer.app.showAll(); Explorer.app.setThreshold(201)")
    opened.slide("k", 3)
    yield opened
    assert opened.errors() == ([], [])


def test_the_slider_relabels(page, model):
    colours = {}
    for k in range(1, 21):
        page.slide("k", k)
        expected = model.labels_for(k)
        assert (page.labels() == expected).all()
        sizes = [int(row[1].replace(",", "")) for row in page.table()]
        assert sizes == np.bincount(expected).tolist()
        assert page.text("k-value") == str(k)
        assert page.text("status").startswith(f"{k} cluster")
        # a part that is not cut keeps its colour
        found = {}
        for label, colour in enumerate(page.colours()):
            found[frozenset(np.flatnonzero(expected == label))] = colour
        assert len(set(found.values())) == k
        assert all(colours.get(rows, colour) == colour for rows, colour in found.items())
        colours |= found


def test_the_suggested_number_is_marked(page):
    assert "suggested" in page.text("verdict")
    assert page.run("return document.querySelectorAll('#evidence .star').length") == 1
    page.run("document.querySelectorAll('#evidence .column')[4].dispatchEvent(new Event('click'))")
    assert page.text("k-value") == "5"


def test_every_point_is_drawn_in_its_colour(page, frame, model):
    """Most pixels at the places of points have the colours of their clusters."""
    points = frame.iloc[:, :2].to_numpy()
    places = page.on_screen(points)
    page.run("document.getElementById('tooltip').hidden = true; Explorer.app.points.drawNames([])")
    page.chromium.execute_async_script(  # two frames later
        "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(arguments[0], 100)))"
    )
    picture = plt.imread(io.BytesIO(page.chromium.get_screenshot_as_png()))[:, :, :3]
    expected = page.run(
        "const {partition, colours} = Explorer.app;return partition.colours.map(c => colours.of(c))"
    )
    colours = np.array([mpl.colors.to_rgb(colour) for colour in expected])
    found = picture[places[:, 1].round().astype(int), places[:, 0].round().astype(int)]
    right = np.abs(found - colours[model.labels_]).max(axis=1) < 0.02
    assert right.mean() > 0.99
    page.run("Explorer.app.refresh()")


def test_two_clicked_points_show_the_path(page, frame, model):
    points = frame.iloc[:, :2].to_numpy()
    for row, place in zip((5, 100), page.on_screen(points[[5, 100]]), strict=True):
        page.click_at(place)
        wait_for(lambda row=row: row in page.run("return Explorer.app.picked"))
        time.sleep(0.5)  # two clicks, not a double click
    expected = model.tree_.path(5, 100)
    assert page.run("return Explorer.app.path.points") in (
        expected.tolist(),
        expected[::-1].tolist(),
    )
    edge = model.tree_.transitive_edge(5, 100)
    text = page.text("path-text")
    assert f"from row {edge.a} to row {edge.b}" in text
    assert f"{len(expected) - 1} hops" in text
    assert f"distance is {edge.length:.4g}" in text


def test_paths_by_keyboard(page, model):
    page.run(
        "document.getElementById('path-from').value = '7';"
        "document.getElementById('path-to').value = '200';"
        "document.getElementById('path-form').requestSubmit()"
    )
    assert f"distance is {model.tree_.distance(7, 200):.4g}" in page.text("path-text")
    page.run("document.getElementById('path-to').value = '9999';")
    page.run("document.getElementById('path-form').requestSubmit()")
    assert page.text("path-text") == f"Give two rows from 0 to {N_ROWS - 1}."


def test_a_branch_is_divided_and_undone(page, model):
    before = page.labels()
    node = page.run("return Explorer.app.partition.clusters[0]")
    page.click_branch(node)
    after = page.labels()
    assert len(np.unique(after)) == 4
    assert len(np.unique(after[before == 0])) == 2  # just that one
    assert all(len(np.unique(after[before == label])) == 1 for label in (1, 2))
    assert "own cut" in page.text("k-value")
    highlighted = page.run("return [...Explorer.app.fadedCells()]")
    cell = np.array(page.run("return [...Explorer.app.data.points.cell]"))
    assert (np.array(highlighted)[cell] == (before != 0)).all()
    page.click("undo")
    assert (page.labels() == before).all()
    assert page.text("k-value") == "3"


def test_any_antichain_can_be_made(page):
    deep = page.run("return Explorer.app.partition.tree.leafOfPart[10]")
    page.click_branch(deep)
    page.click("separate")
    nodes = page.run("return [...Explorer.app.partition.nodes()]")
    assert deep in nodes
    assert len(np.unique(page.labels())) == len(nodes)
    page.click_branch(0)
    page.click("unite")
    assert (page.labels() == 0).all()
    for _ in range(2):
        page.click("undo")
    assert page.text("k-value") == "3"


def test_labels_are_downloaded(page, folder, model):
    page.click_branch(page.run("return Explorer.app.partition.clusters[1]"))
    page.click("download")
    path = folder / "labels.csv"
    wait_for(lambda: path.exists() and path.read_text(encoding="utf-8").count("\n") == N_ROWS + 1)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [[int(field) for field in row] for row in list(csv.reader(stream))[1:]]
    assert [row for row, _ in rows] == list(range(N_ROWS))
    assert [label for _, label in rows] == page.labels().tolist()


def test_a_lasso_selects_rows_to_download(page, folder, frame):
    from selenium.webdriver import ActionChains

    points = frame.iloc[:, :2].to_numpy()
    inside = np.flatnonzero((points[:, 0] > 3) & (points[:, 1] < 3))
    corners = page.on_screen([[3, 3], [9, 3], [9, -3], [3, -3]])
    button = page.run(
        "const find = root => { for (const e of root.querySelectorAll('*')) {"
        "if (String(e.className).includes('lasso')) return e;"
        "const inside = e.shadowRoot && find(e.shadowRoot); if (inside) return inside; } };"
        "const r = find(document).getBoundingClientRect();"
        "return [r.x + r.width / 2, r.y + r.height / 2]"
    )
    page.click_at(button)
    actions = ActionChains(page.chromium)
    pointer = actions.w3c_actions.pointer_action
    pointer.move_to_location(*map(round, corners[0])).pointer_down()
    for corner in (*corners[1:], corners[0]):
        pointer.move_to_location(*map(round, corner))
    pointer.pointer_up()
    actions.perform()
    wait_for(lambda: page.run("return Explorer.app.selection.length"))
    assert page.text("selection-text") == f"{len(inside)} rows selected."
    page.click("selection-download")
    path = folder / "selection.csv"
    wait_for(path.exists)
    wait_for(lambda: path.read_text(encoding="utf-8").endswith("\n"))
    with path.open(encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    assert head == ["row", "cluster", "outlier score", "x", HOSTILE, "text", "kind"]
    assert sorted(int(row[0]) for row in rows) == inside.tolist()
    texts = {int(row[0]): row[5] for row in rows}
    assert all(texts[i] in (HOSTILE, f'\'=1+1,"row" {i}') for i in texts)


def test_outliers_are_greyed_out_and_counted(page, model):
    for steps in (100, 150, 199):
        page.slide("threshold", steps)
        expected = int((model.outlier_scores_ >= steps / 200).sum())
        assert page.text("threshold-text").startswith(f"{expected} row")
        grey = page.run(
            "const {points, colours} = Explorer.app;"
            "return points.paints.filter(p => p == colours.paint(-1, false)).length"
        )
        assert grey == expected
    assert page.labels()[-1] == model.labels_[-1]


def test_the_table_sorts_and_highlights(page, model):
    summary = model.summary_
    rows = page.table()
    assert [row[3] for row in rows] == [f"row {row}" for row in summary.medoids]
    assert [row[4] for row in rows] == [f"{gap:.4g}" for gap in summary.widest_gaps]
    for row, distance, nearest in zip(rows, summary.distances, summary.nearest, strict=True):
        assert row[5] == f"{distance:.4g} to {nearest}"
    assert any("kind = " in row[7] for row in rows)
    page.run("document.querySelectorAll('#clusters th button')[4].click()")
    gaps = [float(row[4]) for row in page.table()]
    assert gaps == sorted(gaps, reverse=True)
    assert page.run("return document.querySelectorAll('th')[4].ariaSort") == "descending"
    page.run("document.querySelector('tr[data-label=\"1\"] button').click()")
    faded = page.run(
        "return Explorer.app.points.paints.filter(p => p > Explorer.app.colours.count).length"
    )
    assert faded == N_ROWS - summary.sizes[1]
    page.run("document.querySelectorAll('#clusters th button')[0].click()")


def test_hovering_shows_texts_as_texts(page, frame):
    from selenium.webdriver import ActionChains

    (place,) = page.on_screen(frame.iloc[[1], :2].to_numpy())
    actions = ActionChains(page.chromium)
    actions.w3c_actions.pointer_action.move_to_location(*map(round, place))
    actions.perform()
    wait_for(lambda: "row " in page.text("tooltip"))
    row = int(page.text("tooltip").split(" · ")[0].removeprefix("row "))
    assert frame["text"][row] in page.text("tooltip")
    corner = page.run(
        "const r = document.getElementById('tooltip').getBoundingClientRect(); return [r.x, r.y]"
    )
    assert 5 < corner[0] - place[0] < 40
    assert 5 < corner[1] - place[1] < 40


def test_hostile_names_stay_texts(page):
    assert page.chromium.title == HOSTILE
    assert HOSTILE in page.run(
        "return [...document.getElementById('y-axis').options].map(o => o.text)"
    )
    page.run(
        "const s = document.getElementById('x-axis'); s.value = '2';"
        "s.dispatchEvent(new Event('change'))"
    )
    assert page.run("return window.hacked") is None
    assert page.run("return document.querySelectorAll('img').length") == 0
    page.run("Explorer.app.setAxes(0, 1)")


def test_no_request_is_possible(page):
    """The policy forbids it; the attempt is the one thing here that the console must hold."""
    outcome = page.chromium.execute_async_script(
        "const done = arguments[0];"
        "fetch('https://example.com/').then(() => done('sent'), e => done('refused'))"
    )
    assert outcome == "refused"
    logged, requests = page.errors()
    assert "Content Security Policy" in " ".join(logged)
    assert requests == []


def test_a_keyboard_reaches_every_branch(page):
    from selenium.webdriver.common.keys import Keys

    page.run("Explorer.app.dendrogram.current = 0; Explorer.app.refresh()")
    page.run("document.querySelector('#dendrogram [tabindex=\"0\"]').focus()")
    active = page.chromium.switch_to.active_element
    label = active.get_attribute("aria-label")
    assert label.endswith(
        f"gap of {page.run('return Explorer.shortNumber(Explorer.app.data.tree.lengths[0])')}"
    )
    active.send_keys(Keys.ARROW_DOWN)
    active = page.chromium.switch_to.active_element
    assert active.get_attribute("data-node") in ("1", "2")
    for _ in range(2):
        page.chromium.switch_to.active_element.send_keys(Keys.ENTER)
    assert "highlighted" in page.text("branch")
    unnamed = page.run(
        "return [...document.querySelectorAll('button, select, input')].filter(e => !(e.textContent"
        " || e.ariaLabel || e.labels?.length)).length"
    )
    assert unnamed == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone(page, theme):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    page.run("document.documentElement.dataset.theme = arguments[0]; Explorer.app.refresh()", theme)
    page.chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        wait_for(lambda: page.run("return innerWidth") == 390)
        assert page.run("return document.documentElement.scrollWidth") <= 390
        plot, slider = (
            page.run(
                "const r = document.getElementById(arguments[0]).getBoundingClientRect();"
                "return [r.width, r.height]",
                name,
            )
            for name in ("plot", "k")
        )
        assert plot[0] > 330
        assert plot[1] >= 380
        assert slider[0] > 150
        background = page.run("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, background[4:-1].split(","))) < 200) == (theme == "dark")
    finally:
        page.chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.run("delete document.documentElement.dataset.theme; Explorer.app.refresh()")


def fits():
    """Yield names of fits, models, and what explore takes."""
    points, _ = make_blobs(150, centers=6, cluster_std=1.4, random_state=1)
    moons, _ = make_two_moons(150, random_state=2)
    weights = np.random.default_rng(0).integers(0, 3, 150)
    distances = np.abs(points[:, None] - points).sum(axis=2)
    yield "kmeans", TransitiveKMeans(4).fit(points), {}
    yield "weights", TransitiveCut(4).fit(points, sample_weight=weights), {"X": points}
    yield "kmeans, weights", TransitiveKMeans(4).fit(moons, sample_weight=weights), {"X": moons}
    precomputed = TransitiveCut(3, metric="precomputed").fit(distances)
    yield "precomputed", precomputed, {"coordinates": points}
    yield "neighbours", TransitiveCut(3, n_neighbors=5).fit(moons), {}
    yield "noise", TransitiveCut(3, noise=0.1).fit(moons), {}


def test_labels_of_other_fits(chromium, folder):
    for number, (name, model, how) in enumerate(fits()):
        path = folder / f"{number}.html"
        model.explore(path=path, **how)
        page = Page(chromium).open(path)
        found = page.run(
            "return Explorer.app.data.numbers.map(k => {"
            "Explorer.app.setNumber(k); return [...Explorer.app.partition.labelsOfRows()]})"
        )
        assert len(found) == 20, name
        for k, labels in enumerate(found, start=1):
            assert (labels == model.labels_for(k)).all(), (name, k)
        assert page.errors() == ([], []), name


def test_noise_is_listed_apart(chromium, folder):
    points, _ = make_blobs(120, centers=3, random_state=3)
    model = TransitiveCut(3, noise=0.1).fit(points)
    model.explore(path=folder / "noise.html")
    page = Page(chromium).open(folder / "noise.html")
    *clusters, noise = page.table()
    assert [row[0] for row in clusters] == ["0", "1", "2"]
    n_noise = int((model.labels_ == -1).sum())
    assert n_noise > 0
    assert noise[:3] == ["noise", str(n_noise), f"{n_noise / 1.2:.1f} %"]
    colours = page.run("return [...Explorer.app.partition.coloursOfCells()]")
    assert -1 in colours
    page.run("Explorer.app.partition.divide(Explorer.app.partition.clusters[0])")
    page.run("Explorer.app.refresh()")
    found = np.array(page.run("return [...Explorer.app.partition.labelsOfRows()]"))
    assert ((found == -1) == (model.labels_ == -1)).all()
    row, other = np.flatnonzero(found == -1)[:2].tolist()
    page.run(f"Explorer.app.setPicked([{row}, {other}])")
    expected = model.tree_.distance(row, other)
    assert page.run("return Explorer.app.path.distance") == pytest.approx(expected, rel=1e-6)
    assert page.errors() == ([], [])


def test_a_sample_counts_all_rows(chromium, folder):
    points, _ = make_blobs(5000, centers=4, cluster_std=0.5, random_state=3)
    model = TransitiveCut(4).fit(points)
    model.explore(path=folder / "sample.html", max_points=500)
    page = Page(chromium).open(folder / "sample.html")
    assert "5,000 rows, 500 of them shown; all are counted" in page.text("facts")
    assert (page.labels() == model.labels_).all()
    assert sum(int(row[1].replace(",", "")) for row in page.table()) == 5000
    rows = page.run("return [...Explorer.app.data.points.row]")
    page.run("Explorer.app.setPicked([3, 400])")
    expected = model.tree_.distance(rows[3], rows[400])
    assert page.run("return Explorer.app.path.distance") == pytest.approx(expected, rel=1e-6)
    assert page.errors() == ([], [])


def test_a_notebook_shows_the_page_inline(chromium, folder, model):
    notebook = folder / "notebook.html"
    shown = model.explore()._repr_html_()
    notebook.write_text(f"<!doctype html><title>notebook</title>{shown}", encoding="utf-8")
    chromium.get(notebook.as_uri())
    chromium.switch_to.frame(0)
    try:
        page = Page(chromium)
        wait_for(lambda: page.run("return document.documentElement.dataset.ready"))
        page.slide("k", 5)
        assert (page.labels() == model.labels_for(5)).all()
        assert page.errors() == ([], [])
    finally:
        chromium.switch_to.default_content()
