"""Take the pictures of docs/explorer.md, in headless Chromium: ``python docs/screenshots.py``.

Needs Chromium and its driver, Selenium, Matplotlib, pandas and, for two of the tables,
bokeh_sampledata: cities of GeoNames (CC BY 4.0), and the cars of UCI's Auto MPG (CC BY 4.0).
"""

from __future__ import annotations

import io
import sys
import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib import pyplot as plt
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE

from isthmus import TransitiveCut

# The tests' browser.
sys.path.append(str(Path(__file__).parents[1] / "tests"))
from chromium import start_chromium, wait_for

IMAGES = Path(__file__).parent / "images"


def explore_digits(path: Path) -> None:
    """Write a page of handwritten digits, with a picture of each."""
    digits = load_digits(as_frame=True)
    model = TransitiveCut(10).fit(digits.data)
    plane = TSNE(random_state=0).fit_transform(digits.data)
    frame = digits.data.assign(digit=digits.target.astype(str), picture=[*map(_png, digits.images)])
    shown = {"hover": ["digit"], "images": "picture", "title": "Handwritten digits, drawn by t-SNE"}
    model.explore(frame, path=path, coordinates=plane, **shown)


def explore_cities(path: Path) -> None:
    """Write a page of cities, by their distances on the globe."""
    from bokeh_sampledata.world_cities import data as cities

    globe = {"metric": "haversine", "metric_params": {"unit": "degrees"}}
    model = TransitiveCut(12, **globe, min_cluster_size=120).fit(cities[["lat", "lng"]])
    title = "Cities of the world, by distance on the globe"
    model.explore(cities, path=path, coordinates=["lng", "lat"], hover=["name"], title=title)


def explore_cars(path: Path) -> None:
    """Write a page of cars: numbers, a text and a category."""
    from bokeh_sampledata.autompg import autompg

    cars = autompg.assign(origin=autompg.origin.map({1: "America", 2: "Europe", 3: "Asia"}))
    numbers = cars[["mpg", "cyl", "displ", "hp", "weight", "accel"]]
    model = TransitiveCut(4, n_neighbors=10, min_cluster_size=15)
    model.fit((numbers - numbers.mean()) / numbers.std())
    shown = pd.concat([numbers, cars[["yr", "origin", "name"]]], axis=1)
    hover, title = ["name", "origin", "yr"], "Cars of the seventies"
    model.explore(shown, path=path, coordinates=["weight", "mpg"], hover=hover, title=title)


def _png(image: Any) -> str:
    """Return a small picture as a data URI."""
    stream = io.BytesIO()
    plt.imsave(stream, image, cmap="gray_r", format="png")
    return f"data:image/png;base64,{b64encode(stream.getvalue()).decode()}"


# Name, page, what is done on it, the width of the window, and the theme.
SHOTS = [
    (
        "explorer_digits",
        explore_digits,
        "HOVER",
        1400,
        "light",
    ),
    ("explorer_cities", explore_cities, "app.setThreshold(app.data.scoreSteps + 1)", 1400, "light"),
    ("explorer_cars", explore_cars, "app.clickBranch(app.partition.clusters[0])", 1400, "dark"),
    (
        "explorer_path",
        explore_cities,
        "app.setPicked([app.pointOf(2000), app.pointOf(30000)])",
        1400,
        "dark",
    ),
    ("explorer_phone", explore_digits, "", 390, "light"),
]


def main() -> None:
    """Write all pictures, or those that are named."""
    wanted = sys.argv[1:] or [name for name, *_ in SHOTS]
    with tempfile.TemporaryDirectory() as folder:
        browser = start_chromium(Path(folder))
        try:
            for name, explore, script, width, theme in SHOTS:
                if name in wanted:
                    page = Path(folder, f"{explore.__name__}.html")
                    if not page.exists():
                        explore(page)
                    _shoot(browser, page, IMAGES / f"{name}.png", script, width, theme)
        finally:
            browser.quit()


def _shoot(browser: Any, page: Path, target: Path, script: str, width: int, theme: str) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    wait_for(lambda: browser.execute_script("return document.documentElement.dataset.ready"))
    dark = "app.switchTheme();" if theme == "dark" else ""
    action = "" if script == "HOVER" else script
    browser.execute_script(f"const app = Explorer.app; {dark} {action}")
    height = browser.execute_script("return document.documentElement.scrollHeight")
    size["height"] = height if width > 500 else 844
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_async_script("setTimeout(arguments[0], 1500)")
    if script == "HOVER":
        _hover(browser)
    picture = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    # few colours, for a small file
    picture.quantize(96, dither=Image.Dither.NONE).save(target, optimize=True)


def _hover(browser: Any) -> None:
    """Move the pointer over the plot until it is at a point."""
    from selenium.webdriver import ActionChains

    for step in range(40):
        actions = ActionChains(browser)
        actions.w3c_actions.pointer_action.move_to_location(300 + 10 * step, 330)
        actions.perform()
        browser.execute_async_script("setTimeout(arguments[0], 60)")
        if not browser.execute_script("return document.getElementById('tooltip').hidden"):
            return


if __name__ == "__main__":
    main()
