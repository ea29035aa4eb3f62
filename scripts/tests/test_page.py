# SPDX-License-Identifier: GPL-2.0
"""The report's page in a browser: it sorts, filters and tells, loads nothing and prints whole."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from zlib import crc32

import pytest
import samples
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait
from test_report import single

from fastlab.base.model import Run
from fastlab.base.progress import PlainReporter
from fastlab.plan.experiment import load_experiment, plan
from fastlab.plan.rows import Row
from fastlab.report.contents import html_text
from fastlab.statistics.analysis import analyse

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
MB = 1_000_000
# The text and the ground of the page, which a theme sets.
INKS = ("rgb(31, 35, 40)", "rgb(228, 231, 235)", "rgb(255, 255, 255)", "rgb(20, 23, 27)")
# A busy machine is slow; nothing here waits for a time to pass.
PATIENCE = 120


def measured(name: str, directory: Path) -> Path:
    """The page of a whole experiment, whose runs have made-up times, beside its runs."""
    file = EXPERIMENTS / f"{name}.toml"
    experiment = load_experiment(file)
    directory.mkdir()
    shutil.copy(file, directory / "experiment.toml")

    def row(run: Run) -> Row:
        # An effect of each workload under each variant, and less of each seed.
        case = f"{run.workload} {run.variant.name}"
        percent = 70 + crc32(case.encode()) % 60 + crc32(f"{case} {run.seed}".encode()) % 7
        if run.variant.name == experiment.baseline:
            percent = 100
        document = samples.document(10_000 * percent, cycles=20_000 * percent)
        machine = {"cpus": run.machine.cpus, "preset": run.machine.preset}
        return samples.row(experiment, run, document=document | machine)

    lines = [json.dumps(row(run)) for run in plan(experiment)]
    (directory / "runs.jsonl").write_text("\n".join(lines) + "\n")
    page = directory / "report.html"
    page.write_text(html_text(analyse(directory, PlainReporter(sys.stderr))))
    return page


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured("demo", tmp_path_factory.mktemp("results") / "demo")


@pytest.fixture(scope="module")
def the_map(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured("map", tmp_path_factory.mktemp("results") / "map")


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    programs = [shutil.which("chromium"), shutil.which("chromedriver")]
    if None in programs:
        pytest.skip("no chromium and chromedriver: `scripts/install-deps --browser` installs them")
    chromium, driver = programs
    options = ChromeOptions()
    options.binary_location = str(chromium)
    for word in (
        "headless=new",
        "no-sandbox",  # which root and many containers do not have
        "disable-dev-shm-usage",
        "disable-gpu",
        "disable-background-networking",
        "host-resolver-rules=MAP * ~NOTFOUND",
        "window-size=1200,900",
    ):
        options.add_argument(f"--{word}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = Chrome(options, Service(driver))
    try:
        started.set_page_load_timeout(PATIENCE)
        started.set_script_timeout(PATIENCE)
        yield started
    finally:
        started.quit()


@pytest.fixture
def shown(browser: Chrome, demo: Path) -> Iterator[Chrome]:
    """A browser with the demo's page anew, which finds no fault with it."""
    media(browser)
    open_page(browser, demo)
    yield browser
    assert browser.get_log("browser") == []


def open_page(browser: Chrome, path: Path) -> None:
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(path.as_uri())


def media(browser: Chrome, medium: str = "", scheme: str = "light") -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": features})


def into_view(browser: Chrome, element: WebElement) -> None:
    browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", element)


def table_after(browser: Chrome, title: str) -> WebElement:
    """The table below this heading."""
    return browser.find_element(
        By.XPATH, f"(//h3|//summary)[starts-with(., '{title}')]/following::table[1]"
    )


def column(browser: Chrome, table: WebElement, number: int) -> list[str]:
    """The cells of a column that are shown, from above."""
    script = (
        "const [table, number] = arguments; return [...table.tBodies[0].rows]"
        ".filter((row) => row.checkVisibility())"
        ".map((row) => row.cells[number].textContent);"
    )
    return browser.execute_script(script, table, number)  # type: ignore[no-any-return]


def press(browser: Chrome, table: WebElement, number: int) -> None:
    button = table.find_elements(By.CSS_SELECTOR, "thead [role=button]")[number]
    into_view(browser, button)
    button.click()


def point_at(browser: Chrome, mark: WebElement) -> str:
    """What is told then."""
    into_view(browser, mark)
    tip = browser.find_element(By.ID, "tip")

    def told(_: Chrome) -> str:
        # The page may still be scrolling, and the mark no longer be there.
        ActionChains(browser).move_to_element(mark).perform()
        return tip.text if tip.is_displayed() else ""

    return WebDriverWait(browser, PATIENCE).until(told)


def test_pages_are_small(demo: Path, the_map: Path) -> None:
    assert demo.stat().st_size < 2 * MB
    assert the_map.stat().st_size < 5 * MB


def test_all_is_there_without_scripts(demo: Path) -> None:
    text = demo.read_text().partition("<script>")[0]
    # Each row is written out, and each mark has a title, which browsers show by themselves.
    assert text.count("<td>seed 5<td>") == 14 * 4
    marks = re.findall(r'<g class="mark" pointer-events="all">(<title>\S)', text)
    assert len(marks) == 14 * 4 + 2 * 2 * 14 + 3 * 5 * 14
    assert text.count("<title>") == len(marks) + 1


def test_the_page_is_one_file_without_faults(shown: Chrome) -> None:
    assert shown.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert shown.find_element(By.CSS_SELECTOR, "h1 + p").text.partition(" made ")[1] == " made "


def test_headings_sort(shown: Chrome) -> None:
    table = table_after(shown, "Regret by workload and arm")
    names, before = column(shown, table, 0), column(shown, table, 4)
    numbers = sorted(map(float, before))
    assert list(map(float, before)) != numbers
    for expected, said in ((numbers, "ascending"), (numbers[::-1], "descending")):
        press(shown, table, 4)
        assert list(map(float, column(shown, table, 4))) == expected
        assert len(table.find_elements(By.CSS_SELECTOR, f"th[aria-sort={said}]")) == 1
    press(shown, table, 4)
    assert column(shown, table, 4) == before
    press(shown, table, 0)
    assert column(shown, table, 0) == sorted(names)


def test_what_is_not_available_comes_last_and_rows_stay_together(
    browser: Chrome, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(html_text(single()))
    open_page(browser, path)
    table = table_after(browser, "Improvement of the L2 and L3 miss ratios")
    before = list(zip(*(column(browser, table, number) for number in range(4)), strict=True))
    assert [cells[0] for cells in before] == ["single_ctr", *[""] * 3, "affinity", *[""] * 3]
    for _ in range(2):
        press(browser, table, 3)
        after = list(zip(*(column(browser, table, number) for number in range(4)), strict=True))
        assert after == before
    press(browser, table, 3)
    press(browser, table, 0)
    after = list(zip(*(column(browser, table, number) for number in range(4)), strict=True))
    assert after == [*before[4:], *before[:4]]
    assert browser.get_log("browser") == []


def test_a_filter_leaves_rows_with_all_words(shown: Chrome) -> None:
    table = table_after(shown, "Regret by workload and arm")
    field = table.find_element(By.XPATH, "preceding::input[1]")
    into_view(shown, field)
    field.send_keys("CTR 16")
    assert column(shown, table, 0) == ["single_ctr", "multiple_ctr", "mlt_ctr_mlt_lock"]
    assert "3 of 14" in field.find_element(By.XPATH, "..").text
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(Keys.DELETE)
    assert len(column(shown, table, 0)) == 14


def test_marks_tell_their_numbers(shown: Chrome, demo: Path) -> None:
    titles = re.findall(r"<title>([^<]*)</title>", demo.read_text())[1:]
    marks = shown.find_elements(By.CSS_SELECTOR, ".mark")
    tip = shown.find_element(By.ID, "tip")
    assert not tip.is_displayed()
    for number in (0, 60, len(marks) - 1):
        assert point_at(shown, marks[number]) == unescape(titles[number])
        box = shown.execute_script("return arguments[0].getBoundingClientRect().toJSON()", tip)
        assert box["left"] >= 0 and box["top"] >= 0
        assert box["right"] <= 1200 and box["bottom"] <= 900
    # Not squeezed into what is left at the edge.
    assert box["width"] > 300
    assert re.search(r"improvement .* %, 95 % interval .*\nseed 1: .* %\n", tip.text)
    ActionChains(shown).send_keys(Keys.ESCAPE).perform()
    assert not tip.is_displayed()


def test_a_workload_leads_to_its_rows(shown: Chrome, demo: Path) -> None:
    table = table_after(shown, "Regret by workload and arm")
    link = table.find_elements(By.CSS_SELECTOR, "tbody a")[3]
    runs = table_after(shown, "Runs: 280")
    assert link.text == "multiple_ctr" and not runs.is_displayed()
    into_view(shown, link)
    link.click()
    cell = runs.find_element(By.XPATH, ".//td[. = 'multiple_ctr-16']")
    WebDriverWait(shown, PATIENCE).until(lambda _: cell.is_displayed())
    box = shown.execute_script("return arguments[0].getBoundingClientRect().toJSON()", cell)
    assert 0 <= box["top"] <= box["bottom"] <= 900
    cells = [one.text for one in cell.find_elements(By.XPATH, "../td")]
    lines = map(json.loads, (demo.parent / "runs.jsonl").read_text().splitlines())
    [line] = [one for one in lines if one["key"].startswith(cells[4])]
    assert (line["benchmark"], line["threads"]) == ("multiple_ctr", 16)
    assert cells[1:3] == [line["variant"], f"seed {line['seed']}"]
    assert cells[5] == f"{line['elapsed_ns']:,}"
    target = cell.find_element(By.XPATH, "../td/a").get_attribute("href")
    assert target == f"{(demo.parent / 'runs.jsonl').as_uri()}#:~:text={line['key']}"


def test_paper_has_what_is_folded_scrolled_away_and_filtered_out(shown: Chrome) -> None:
    field = shown.find_element(By.CSS_SELECTOR, ".filter input")
    into_view(shown, field)
    field.send_keys("no row has this")
    unseen = (
        "return [...document.querySelectorAll('tbody tr')]"
        ".filter((row) => !row.checkVisibility()).length;"
    )
    cut = (
        "return [...document.querySelectorAll('.scroll')]"
        ".filter((box) => box.clientHeight < box.scrollHeight).length;"
    )
    assert shown.execute_script(unseen) > 280
    media(shown, "print")
    assert shown.execute_script(unseen) == 0
    assert shown.execute_script(cut) == 0
    assert not field.is_displayed()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_whiskers_are_seen_on_any_colour(shown: Chrome, scheme: str) -> None:
    media(shown, scheme=scheme)
    script = (
        "const paths = [...document.querySelectorAll('svg path')];"
        "const wide = paths.filter((path) => path.style.stroke == 'var(--ground)')"
        ".map((path) => path.getAttribute('d'));"
        "const strokes = paths.filter((path) => wide.includes(path.getAttribute('d')))"
        ".map((path) => getComputedStyle(path).stroke);"
        "return [[...new Set(strokes)], getComputedStyle(document.body).backgroundColor];"
    )
    (around, line), ground = shown.execute_script(script)
    # Each is drawn upon a wider one of the ground's colour.
    assert around == ground
    assert contrast(line, ground) > 7


def test_data_has_the_same_colours_in_both_themes(shown: Chrome) -> None:
    script = (
        "return [...document.querySelectorAll('.mark path, figure text')]"
        ".map((part) => getComputedStyle(part).fill).filter((fill) => fill !== 'none');"
    )
    seen = {}
    for scheme in ("light", "dark"):
        media(shown, scheme=scheme)
        seen[scheme] = [fill for fill in shown.execute_script(script) if fill not in INKS]
    assert seen["light"] == seen["dark"] and len(set(seen["light"])) > 5


def test_a_phone_shows_the_columns_of_fast(shown: Chrome) -> None:
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    shown.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for title in ("Regret by workload and arm", "Improvement of elapsed_ns by variant"):
            table = table_after(shown, title)
            for name in ("strict", "adaptive"):
                (heading,) = table.find_elements(By.XPATH, f".//th[. = '{name}']")
                box = heading.rect
                assert box["x"] >= 0 and box["x"] + box["width"] <= 400, (title, name)
        labels = shown.find_elements(By.CSS_SELECTOR, "figure svg text")
        for name in ("strict", "adaptive"):
            box = next(label for label in labels if label.text == name).rect
            assert box["x"] >= 0 and box["x"] + box["width"] <= 400, name
    finally:
        shown.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def contrast(one: str, other: str) -> float:
    """WCAG 2's contrast of two colours such as "rgb(1, 2, 3)", 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)]
        linear = [
            ((part + 0.055) / 1.055) ** 2.4 if part > 0.03928 else part / 12.92 for part in parts
        ]
        return sum(
            share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
        )

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_no_other_script_runs(browser: Chrome, demo: Path) -> None:
    open_page(browser, demo)
    script = (
        "const other = document.createElement('script'); other.textContent = 'window.ran = true';"
        "document.body.append(other); return window.ran === undefined;"
    )
    assert browser.execute_script(script)


def test_the_map_has_every_case(browser: Chrome, the_map: Path) -> None:
    media(browser)
    open_page(browser, the_map)
    figure = browser.find_element(
        By.XPATH, "//figure[figcaption[starts-with(., 'The best arm of every case')]]"
    )
    marks = figure.find_elements(By.CSS_SELECTOR, ".mark")
    assert len(marks) == 140
    lines = point_at(browser, marks[0]).splitlines()
    assert lines[0].startswith("single_ctr,cpus=")
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "baseline",
        "off",
        "onecpu",
        "strict",
        "adaptive",
    ]
    assert browser.get_log("browser") == []
