# SPDX-License-Identifier: GPL-2.0
"""The pages of Documentation/ are what their authors meant, and lead to what is there."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles

from fastlab.base.model import Machine, Watchdogs
from fastlab.plan import experiment, splash_sizes

PROJECT = Path(__file__).parents[2]
PAGES = sorted((PROJECT / "Documentation").glob("*.rst"))
NAMES = {page.stem for page in PAGES}


class TocTree(Directive):
    """Sphinx's."""

    has_content = True
    option_spec = {"hidden": directives.flag}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        assert set(self.content) == NAMES - {"index"}
        return []


@pytest.fixture(scope="module", autouse=True)
def sphinx() -> None:
    """What the pages use of it, beside what is docutils' own."""
    roles.register_generic_role("doc", nodes.inline)
    directives.register_directive("toctree", TocTree)


def wrong(text: str) -> str:
    """What docutils says is wrong with a page, from warnings on."""
    said = io.StringIO()
    settings = {"report_level": 2, "halt_level": 5, "warning_stream": said, "_disable_config": True}
    publish_doctree(text, settings_overrides=settings)
    return said.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_well_formed(page: Path) -> None:
    text = page.read_text("utf-8")
    assert wrong(text) == ""
    assert set(re.findall(r":doc:`([^`]*)`", text)) <= NAMES


@pytest.mark.parametrize("text", ["a_ leads nowhere", ":dco:`try`", "===  =\nfour 4\n===  ="])
def test_what_is_malformed_is_seen(text: str) -> None:
    assert wrong(text) != ""


def test_the_page_of_experiment_files_has_every_key() -> None:
    text = (PROJECT / "Documentation/experiments.rst").read_text("utf-8")
    named = set(re.findall(r'``[\["]*(\w+)[\]"]*``', text))
    known = {*experiment.KEYS, *experiment.KNOBS, *experiment.OPTIONS, *experiment.POLICIES}
    known |= {*experiment.KERNELS, *experiment.MACHINE_AXES, *experiment.PAIRED}
    known |= {*vars(Machine()), *vars(Watchdogs()), *splash_sizes.OPTIONS}
    known |= {key for options in splash_sizes.OPTIONS.values() for key in options}
    assert known - named == set()


def test_the_readme_leads_to_what_is_there() -> None:
    links = re.findall(r"\]\(([^)]*)\)", (PROJECT / "README.md").read_text("utf-8"))
    near = [link for link in links if "://" not in link]
    assert near and [link for link in near if not (PROJECT / link).exists()] == []
