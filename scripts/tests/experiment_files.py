# SPDX-License-Identifier: GPL-2.0
"""Experiment files, for tests of what they mean."""

from __future__ import annotations

from pathlib import Path

import samples

GOOD = f"""
name = "tiny"
series = "6.12"
baseline = "baseline"
threads = [4, 16]
seeds = [1, 2]
[machine]
cpus = 4
{samples.VARIANTS}
[defaults]
iterations = 2000
warmup = 400
[[benchmark]]
name = "single_ctr"
iterations = 100
options = {{ cs_lines = 16 }}
[[benchmark]]
name = "prod_cons"
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(text)
    return path


SPLASH = f"""
name = "tiny"
series = "6.12"
baseline = "baseline"
threads = [4, 128]
seeds = [1]
{samples.VARIANTS}
[[benchmark]]
name = "fft"
options = {{ m = 16 }}
[[benchmark]]
name = "water_nsquared"
options = {{ molecules = 512, energy_every = 2, cutoff = 6.5 }}
[[benchmark]]
name = "barnes"
"""
