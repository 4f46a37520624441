"""Takes the picture of the README: the top of the report on the shipped sample.

Usage: `python -m tests.pipeline.views.pages.picture` (`make picture`), which needs Chromium.
"""

import base64
import sys
import tempfile
from pathlib import Path

from goodgain.pipeline.__main__ import main
from tests.pipeline.views.pages.browser import (
    CHROMEDRIVER,
    CHROMIUM,
    chromium,
    eventually,
    open_page,
)

PICTURE = Path("docs/images/report.png")
WIDTH = 1_280
# Where the first plots end, below the answer and the headline metrics.
BOTTOM = """
const plots = [...document.querySelectorAll("#iterations .plot")];
return Math.max(...plots.map((plot) => plot.getBoundingClientRect().bottom));
"""
DRAWN = "return document.querySelectorAll('#iterations svg.main-svg .trace').length > 0"


def take_picture():
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "sample"
        words = ["--config", "configs/run.yaml", "--input", "configs/data/sample.avro"]
        if main(["run", *words, "--output", str(output)]) != 0:
            sys.exit(1)
        with chromium(Path(folder) / "profile") as browser:
            open_page(browser, (output / "report.html").as_uri(), WIDTH)
            eventually(browser, lambda: browser.execute_script(DRAWN))
            clip = {"x": 0, "y": 0, "width": WIDTH, "scale": 1}
            clip["height"] = browser.execute_script(BOTTOM)
            options = {"captureBeyondViewport": True, "clip": clip}
            taken = browser.execute_cdp_cmd("Page.captureScreenshot", options)
    PICTURE.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    if CHROMIUM is None or CHROMEDRIVER is None:
        sys.exit("Chromium is not installed (Debian packages chromium and chromium-driver).")
    take_picture()
