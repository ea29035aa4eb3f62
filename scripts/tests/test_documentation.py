# SPDX-License-Identifier: GPL-2.0
"""The pages are readable, complete, and lead to files that exist; `make docs` checks their form."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from fastlab.base.model import Machine, Watchdogs
from fastlab.plan import arms, experiment, splash_sizes

PROJECT = Path(__file__).parents[2]
PAGES = sorted((PROJECT / "Documentation").glob("*.rst"))
AT_THE_ROOT = [PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
MOST_PAGES = 24
MOST_COLUMNS = 100
MOST_LINES_OF_README = 130
MOST_LINES_OF_PICTURES = 1500


@pytest.mark.parametrize("page", [*PAGES, *AT_THE_ROOT], ids=lambda page: page.stem)
def test_lines_are_short(page: Path) -> None:
    # Markdown cannot wrap the row of a table, nor HTML in it a text.
    rows = ("|", "<img") if page.suffix == ".md" else ()
    lines = [line for line in page.read_text("utf-8").splitlines() if not line.startswith(rows)]
    assert [line for line in lines if len(line) > MOST_COLUMNS] == []


def test_there_are_few_pages_and_the_readme_is_short() -> None:
    assert len(PAGES) <= MOST_PAGES
    assert len(AT_THE_ROOT[0].read_text("utf-8").splitlines()) <= MOST_LINES_OF_README


def test_the_page_of_experiment_files_has_every_key() -> None:
    text = (PROJECT / "Documentation/experiments.rst").read_text("utf-8")
    named = set(re.findall(r'``[\["]*(\w+)[\]"]*``', text))
    known = {*experiment.KEYS, *arms.KNOBS, *experiment.OPTIONS, *arms.POLICIES}
    known |= {*arms.KERNELS, *experiment.MACHINE_AXES, *experiment.PAIRED}
    known |= {*vars(Machine()), *vars(Watchdogs()), *splash_sizes.OPTIONS}
    known |= {key for options in splash_sizes.OPTIONS.values() for key in options}
    assert known - named == set()


def test_the_examples_of_experiment_files_are_good(tmp_path: Path) -> None:
    text = (PROJECT / "Documentation/experiments.rst").read_text("utf-8")
    examples = re.findall(
        r'^    name = "\w+"\n(?:    series[^\n]*\n)?    baseline.*?(?=^\S)',
        text,
        re.MULTILINE | re.DOTALL,
    )
    assert len(examples) == 2
    names = []
    for example in examples:
        (tmp_path / "example.toml").write_text(textwrap.dedent(example))
        names.append(experiment.load_experiment(tmp_path / "example.toml").name)
    assert names == ["mine", "slice"]


@pytest.mark.parametrize("page", AT_THE_ROOT[:2], ids=lambda page: page.stem)
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)]*)\)", page.read_text("utf-8"))
    near = [link for link in links if "://" not in link]
    assert near and [link for link in near if not (PROJECT / link).exists()] == []


def test_every_picture_is_shown_and_all_are_small() -> None:
    pictures = sorted((PROJECT / "Documentation/images").iterdir())
    texts = "".join(page.read_text("utf-8") for page in [*PAGES, *AT_THE_ROOT])
    assert [one.name for one in pictures if f"images/{one.name}" not in texts] == []
    assert sum(one.read_bytes().count(b"\n") for one in pictures) <= MOST_LINES_OF_PICTURES
