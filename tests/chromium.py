"""A headless Chromium without a network, where there is one on this machine."""

import shutil
import time

import pytest

SWITCHES = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage --use-angle=swiftshader --enable-unsafe-swiftshader "
    "--window-size=1400,1000"
)


def find_chromium():
    """Return the browser and its driver, or None for what is missing."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None), shutil.which("chromedriver")


def start_chromium(folder):
    """Return a driver whose profile and downloads are in a folder; skip where there is none."""
    browser, driver = find_chromium()
    if browser is None or driver is None:
        pytest.skip("needs Chromium and its driver (Debian: chromium, chromium-driver)")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for switch in SWITCHES.split():
        options.add_argument(switch)
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND")
    options.add_argument(f"--user-data-dir={folder / 'profile'}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chromium = webdriver.Chrome(options, webdriver.ChromeService(driver))
    chromium.set_script_timeout(30)
    downloads = {"behavior": "allow", "downloadPath": str(folder)}
    chromium.execute_cdp_cmd("Browser.setDownloadBehavior", downloads)
    return chromium


def wait_for(condition, seconds=20):
    """Return what a condition returns as soon as that is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.05)
    return found
