"""The report in a real browser: light and dark, wide and narrow, on a screen and on paper."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from lineal.report import write_report
from report_samples import classification, comparison, everything, mapped, regression

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WIDTHS = {"wide": 1280, "narrow": 390}
VIEWS = [("light", "wide"), ("dark", "wide"), ("light", "narrow"), ("dark", "narrow")]
HOSTILE = "<script>document.title='taken'</script><img src=http://example.org/x>\u202e" + "w" * 90

# The contrast of a text with what is behind it (WCAG 2.2): backgrounds are blended up to the page's.
CONTRAST = """(selectors) => {
  const numbers = (colour) => {
    const found = colour.match(/[\\d.]+/g).map(Number);
    return found.length === 3 ? [...found, 1] : found;
  };
  const over = (top, below) => [0, 1, 2].map((k) => top[3] * top[k] + (1 - top[3]) * below[k]);
  const light = (rgb) => {
    const part = rgb.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
  };
  const background = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.push(numbers(getComputedStyle(at).backgroundColor));
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const found = [];
  for (const selector of selectors) {
    const elements = [...document.querySelectorAll(selector)];
    if (!elements.length) found.push([selector, 0]);
    for (const element of elements.slice(0, 40)) {
      const style = getComputedStyle(element);
      const behind = background(element);
      const colour = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
      const [high, low] = [light(over(numbers(colour), behind)), light(behind)].sort((a, b) => b - a);
      found.push([selector, (high + 0.05) / (low + 0.05)]);
    }
  }
  return found;
}"""
LEGIBLE = [
    *(
        "h1",
        "h2",
        ".how",
        ".summary",
        ".above",
        ".key dt",
        ".key b",
        ".key small",
        "nav a",
        "p",
        "caption",
        "th",
    ),
    *(
        "td",
        "td small",
        ".legend",
        ".note",
        ".verdict strong",
        ".role",
        "figcaption",
        "summary",
        "dt",
        "dd",
        "code",
    ),
    *("mark.for", "mark.against", ".gap", ".place", ".severity", ".heat td", ".swatch", "tr.marked th small"),
    *("svg text", "svg .label", "footer p", ".worse, .error", ".multiples .number"),
]
FITS = """() => {
  const boxes = (selector) => [...document.querySelectorAll(selector)]
    .filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect());
  const wide = document.documentElement.clientWidth;
  return {
    overflow: document.documentElement.scrollWidth - wide,
    charts: boxes('svg.chart').length,
    flat: boxes('svg.chart, svg.bar, svg.strip').filter((box) => box.width <= 20 || box.height <= 8).length,
    outside: boxes('svg.chart text').filter((box) => box.left < 0 || box.right > wide).length,
    small: Math.min(...boxes('svg.chart').map((box) => box.width / 360)),
  };
}"""


@pytest.fixture(scope="module")
def browser():
    """One Chromium for all tests of this file."""
    driver = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with driver.sync_playwright() as play:
        try:
            running = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        except driver.Error as flaw:
            pytest.skip(f"Chromium at {CHROMIUM} does not start: {str(flaw).splitlines()[0]}")
        yield running
        running.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    """Reports of every kind, on the disk."""
    folder = tmp_path_factory.mktemp("reports")
    reports = {
        "texts": classification(2, length=120),
        "labels": classification(20, n_mistakes=3, length=60),
        "numbers": regression(1500),
        "models": comparison(),
        "everything": everything(),
        "hostile": mapped(everything(), lambda words: HOSTILE),
    }
    return {name: write_report(report, folder / f"{name}.html") for name, report in reports.items()}


class Visit:
    """A page that is open, and what went on in it: messages, and requests for anything but the file."""

    def __init__(self, browser, path: Path, scheme: str, width: str) -> None:
        self.page = browser.new_page(viewport={"width": WIDTHS[width], "height": 900}, color_scheme=scheme)
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.route("**/*", lambda route: self._answer(route, path))
        self.page.goto(path.as_uri())

    def _answer(self, route, path: Path) -> None:
        if route.request.url == path.as_uri():
            route.continue_()
        else:
            self.requests.append(route.request.url)
            route.abort()

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()


@pytest.mark.parametrize("name", ["texts", "labels", "numbers", "models", "everything", "hostile"])
def test_a_page_opens_without_a_word_and_fits(browser, pages, name):
    """Nothing is asked for, no error is logged, nothing is wider than a phone, every figure has a size."""
    for width in WIDTHS:
        with Visit(browser, pages[name], "light", width) as visit:
            found = visit.page.evaluate(FITS)
            assert visit.messages == []
            assert visit.requests == []
            assert found["overflow"] <= 0, width
            assert found["flat"] == found["outside"] == 0, width
            assert found["charts"] == 0 or found["small"] > 0.85  # so that text of 12 units is legible
            assert visit.page.title() != "taken"


@pytest.mark.parametrize(("scheme", "width"), VIEWS, ids=["-".join(view) for view in VIEWS])
def test_words_can_be_read(browser, pages, scheme, width):
    """Every text has a contrast of at least 4.5 : 1 with what is behind it, in both themes."""
    with Visit(browser, pages["everything"], scheme, width) as visit:
        contrasts = visit.page.evaluate(CONTRAST, LEGIBLE)
        missing = {selector for selector, ratio in contrasts if ratio == 0}
        assert missing == set()
        worst = min(contrasts, key=lambda pair: pair[1])
        assert worst[1] >= 4.5, worst
        paper = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness = sum(map(int, re.findall(r"\d+", paper)[:3]))
        assert (brightness > 600) == (scheme == "light")


def test_the_contents_lead_to_the_sections(browser, pages):
    """Each link of the contents brings its section to the top of the window; all sections have one."""
    with Visit(browser, pages["everything"], "light", "wide") as visit:
        page = visit.page
        page.add_style_tag(content="html { scroll-behavior: auto !important; }")
        links = page.locator("nav a")
        assert links.count() == page.locator("main > section").count() == 17
        for place in (0, 8, 16):
            link = links.nth(place)
            target = link.get_attribute("href")
            link.click()
            top = page.evaluate("(id) => document.querySelector(id).getBoundingClientRect().top", target)
            bottom = page.evaluate("document.documentElement.scrollHeight - scrollY - innerHeight")
            assert -5 <= top <= 60 or bottom <= 1, target


def test_details_open_by_keyboard(browser, pages):
    """What is folded is reached by the Tab key and opened by Enter."""
    with Visit(browser, pages["everything"], "light", "wide") as visit:
        summary = visit.page.locator("summary").first
        summary.focus()
        assert not visit.page.evaluate("document.activeElement.parentElement.open")
        visit.page.keyboard.press("Enter")
        assert visit.page.evaluate("document.activeElement.parentElement.open")


def test_paper_is_white_and_holds_everything(browser, pages):
    """In print, even from a dark screen, ink is dark on white, the contents are gone, nothing is cut off."""
    with Visit(browser, pages["everything"], "dark", "wide") as visit:
        visit.page.emulate_media(media="print", color_scheme="dark")
        assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not visit.page.locator("nav").is_visible()
        assert visit.page.locator("main > section").count() == 17
        overflows = visit.page.evaluate(
            "[...new Set([...document.querySelectorAll('.scroll')].map("
            "(one) => getComputedStyle(one).overflowX))]"
        )
        assert overflows == ["visible"]
        worst = min(
            visit.page.evaluate(CONTRAST, ["h1", "p", "td", "mark.for", ".heat td"]), key=lambda pair: pair[1]
        )
        assert worst[1] >= 4.5, worst
        visit.page.set_viewport_size({"width": 673, "height": 900})  # A4 without its margins
        assert visit.page.evaluate(FITS)["overflow"] <= 0
        if visit.page.evaluate("CSS.supports('selector(::details-content)')"):
            heights = "[...document.querySelectorAll('details table')].map((one) => one.offsetHeight)"
            assert min(visit.page.evaluate(heights)) > 20
        assert visit.page.pdf(format="A4").startswith(b"%PDF")
