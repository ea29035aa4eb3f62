# SPDX-License-Identifier: GPL-2.0
"""HTML pages from the templates of this package. They load nothing."""

from __future__ import annotations

from typing import Any

import jinja2


def render(template: str, **values: Any) -> str:
    """The page; equal values give equal bytes, and a value that is missing is an error."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fastlab"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(template).render(**values)
