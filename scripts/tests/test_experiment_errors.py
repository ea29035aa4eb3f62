# SPDX-License-Identifier: GPL-2.0
"""Bad experiment files are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiment_files import GOOD, SPLASH, write
from fake_programs import BENCHMARKS

from fastlab.base.model import FastError
from fastlab.plan.experiment import load_experiment

# What is changed in GOOD, and what the error must say.
BAD = {
    "primary": (
        'series = "6.12"',
        'series = "6.12"\nprimary = "cycle"',
        ["primary", "cycle", "cycles", "did you mean"],
    ),
    "syntax": ("seeds = [1, 2]", "seeds = [1, 2", ["TOML", "line"]),
    "unknown key": ("seeds = [1, 2]", "seed = [1]", ["seed", "did you mean seeds?"]),
    "unknown key in a table": ("cpus = 4", "cpu = 4", ["machine", "did you mean cpus?"]),
    "missing list": ("seeds = [1, 2]", "", ["seeds", "missing"]),
    "benchmark": ('"single_ctr"', '"singel_ctr"', ["singel_ctr", *BENCHMARKS, "mean single_ctr"]),
    "kernel": ('kernel = "fast"', 'kernel = "fsat"', ["fsat", "baseline, fast, wakecpu"]),
    "policy": ('"strict"', '"harsh"', ["harsh", "off, strict"]),
    "preset": ("cpus = 4", 'preset = "rx464"', ["machine: ", "rx464", "did you mean rx4640?"]),
    "preset of a wrong type": ("cpus = 4", "preset = 4", ["preset", "4", "built-in"]),
    "preset elsewhere": ("cpus = 4", 'preset = "../a.toml"', ["../a.toml", "directory"]),
    "preset that no file can be": (
        "cpus = 4",
        'preset = "a\\u0000.toml"',
        ['preset = "a\\u0000.toml"', "directory"],
    ),
    "a number of many digits": (
        "cpus = 4",
        f"cpus = {'9' * 5000}",
        ["cannot be read: Exceeds the limit"],
    ),
    "a number of many hexadecimal digits": (
        "cpus = 4",
        f"cpus = 0x{'f' * 5000}",
        ["cpus = a value that is too long to show is not allowed", "1 to 64"],
    ),
    "a long text": ("cpus = 4", f"cpus = '{'x' * 5000}'", ['cpus = "xxx', "xxx... is not allowed"]),
    "brackets without end": ("cpus = 4", f"cpus = {'[' * 3000}", ["cannot be read: max"]),
    "preset that is not there": ("cpus = 4", 'preset = "a.toml"', ["a.toml: No such file"]),
    "cpus that share no L3 evenly": (
        "cpus = 4",
        'cpus = 12\npreset = "epyc-milan"',
        ["machine: cpus = 12", "1 to 8, or a multiple of 8"],
    ),
    "no threads": ("[4, 16]", "[0]", ["threads", "0", "1 to 1024"]),
    "negative threads": ("[4, 16]", "[-4]", ["threads", "-4", "1 to 1024"]),
    "too many threads": ("[4, 16]", "[100000]", ["threads", "100000", "1 to 1024"]),
    "odd threads": ("[4, 16]", "[4, 5]", ["threads", "5", "prod_cons", "even"]),
    "threads twice": ("[4, 16]", "[4, 4]", ["threads", "4", "once"]),
    "seed twice": ("seeds = [1, 2]", "seeds = [2, 2]", ["seeds", "2", "once"]),
    "no seeds": ("seeds = [1, 2]", "seeds = []", ["seeds", "at least one"]),
    "seed of a wrong type": ("seeds = [1, 2]", 'seeds = ["a"]', ["seeds", '"a"', "whole number"]),
    "a truth is no number": ("seeds = [1, 2]", "seeds = [true]", ["seeds", "true", "whole"]),
    "variant twice": ('name = "fast"', 'name = "baseline"', ["variant", "baseline", "once"]),
    "baseline": (
        'baseline = "baseline"',
        'baseline = "base"',
        ["baseline", '"base"', "baseline, fast"],
    ),
    "no variants": ("[[variant]]", "[[benchmark]]", ["variant"]),
    "benchmark twice": ('"prod_cons"', '"single_ctr"', ["benchmark", "single_ctr", "once"]),
    "table for a value": ('series = "6.12"', "series = 6.12", ["series", "6.12"]),
    "value for a table": ("[machine]\ncpus = 4", "machine = 4", ["machine", "4", "a table"]),
    "name that is a path": ('name = "tiny"', 'name = "../x"', ["name", "../x", "letters"]),
    "name that begins otherwise": ('name = "tiny"', 'name = "-x"', ["-x", "digit is the first"]),
    "long name": ('name = "tiny"', f'name = "{"x" * 65}"', ["name", "up to 64 small letters"]),
    "long variant": ('name = "fast"', f'name = "{"x" * 65}"', ["[[variant]] 2", "up to 64"]),
    "unknown option": ("cs_lines", "cs_line", ["options", "cs_line", "did you mean cs_lines?"]),
    "iterations": ("iterations = 100", "iterations = 0", ["iterations", "0", "1 to"]),
    "odd iterations": ("iterations = 2000", "iterations = 2001", ["[[benchmark]] 2", "2001"]),
    "odd warm-up": ("warmup = 400", "warmup = 401", ["[[benchmark]] 2", "warmup", "even"]),
    "few iterations": ("iterations = 100", "iterations = 15", ["15", "each of 16 threads"]),
    "lines": ("cs_lines = 16", "cs_lines = 2000", ["options", "cs_lines", "1 to 1024"]),
    "line": ("cs_lines = 16", "line = 96", ["options", "line", "96", "power of two"]),
    "knob": ('"strict"', '"strict"\nknobs = { deep = 1 }', ["knobs", "deep", "depth, opt_in"]),
    "a knob's value": ('"strict"', '"strict"\nknobs = { opt_in = 2 }', ["opt_in", "2", "0 to 1"]),
    "policy on the unpatched kernel": (
        'kernel = "fast"',
        'kernel = "baseline"',
        ["kernel with FAST"],
    ),
    "policy on a control": ('kernel = "fast"', 'kernel = "wakecpu"', ["kernel with FAST"]),
    "cpus": ('policy = "strict"', 'policy = "strict"\ncpus = 5', ["cpus = 5", "from 1 to 4"]),
    "no cpus": ('policy = "strict"', 'policy = "strict"\ncpus = 0', ["cpus = 0", "from 1 to 4"]),
    "feature": (
        'policy = "strict"',
        'policy = "strict"\nfeatures = ["no_wakeup"]',
        ["features", "no_wakeup", "NEXT_BUDDY"],
    ),
    "a feature that is no list": (
        'policy = "strict"',
        'policy = "strict"\nfeatures = "NEXT_BUDDY"',
        ["features", "a list of"],
    ),
    "a feature both ways": (
        'policy = "strict"',
        'policy = "strict"\nfeatures = ["NEXT_BUDDY", "NO_NEXT_BUDDY"]',
        ["features", "NEXT_BUDDY only once"],
    ),
    "oracle": (
        "seeds = [1, 2]",
        'seeds = [1]\noracle = ["baseline", "fats"]',
        ["oracle", "fats", "baseline, fast (did you mean fast?)"],
    ),
    "oracle twice": (
        "seeds = [1, 2]",
        'seeds = [1]\noracle = ["fast", "fast"]',
        ["oracle", "fast", "once"],
    ),
    "oracle that is no list": (
        "seeds = [1, 2]",
        'seeds = [1]\noracle = "fast"',
        ["oracle", "a list of names"],
    ),
    "quantum": ("cpus = 4", "quantum = 99", ["quantum = 99", "100 to 100000"]),
    "latencies": (
        "seeds = [1, 2]",
        'seeds = [1]\nlatencies = "yes"',
        ['latencies = "yes"', "true, false"],
    ),
    "attribution": (
        "seeds = [1, 2]",
        'seeds = [1]\nattribute = "yes"',
        ['attribute = "yes"', "true, false"],
    ),
    "latencies by number": (
        "seeds = [1, 2]",
        "seeds = [1]\nlatencies = 1",
        ["latencies = 1", "true, false"],
    ),
    "watchdog": ("[machine]", "[watchdogs]\nrun = nan\n[machine]", ["watchdogs", "run", "more"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_by_name(tmp_path: Path, case: str) -> None:
    old, new, words = BAD[case]
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(FastError) as caught:
        load_experiment(path)
    for word in [str(path), *words]:
        assert word in str(caught.value)


# As BAD, for SPLASH.
BAD_SPLASH = {
    "iterations": ('name = "fft"', 'name = "fft"\niterations = 5', ["1: unknown key iterations"]),
    "another's option": ("m = 16", "molecules = 8", ["options", "molecules", "allowed: m"]),
    "range": ("m = 16", "m = 32", ["options", "m = 32", "2 to 30"]),
    "odd": ("m = 16", "m = 15", ["m = 15", "an even number"]),
    "no number": ("m = 16", 'm = "16"', ["m", "whole number"]),
    "truth": ("m = 16", "m = true", ["m = true", "whole number"]),
    "threads": ("m = 16", "m = 8", ["threads = 128", "fft has work for 16"]),
    "no cube": ("molecules = 512", "molecules = 511", ["molecules", "511", "a cube"]),
    "molecules": (
        "molecules = 512, energy_every = 2, cutoff = 6.5",
        "molecules = 64",
        ["threads", "work for 64"],
    ),
    "real": ("cutoff = 6.5", "cutoff = 1", ["cutoff = 1", "a number from 2"]),
    "nan": ("cutoff = 6.5", "cutoff = nan", ["cutoff", "a number from 2"]),
    "word": (
        'name = "barnes"',
        'name = "barnes"\noptions = { distribution = "gauss" }',
        ["distribution", "plummer, uniform"],
    ),
    "radix": (
        'name = "barnes"',
        'name = "radix"\noptions = { r = 100 }',
        ["r = 100", "power of two"],
    ),
    "block": (
        'name = "barnes"',
        'name = "lu_contiguous"\noptions = { n = 8, b = 16 }',
        ["b = 16", "at most n"],
    ),
    "a block without a size": (
        'name = "barnes"',
        'name = "lu_contiguous"\noptions = { b = 1024 }',
        ["b = 1024", "at most n, which is 512"],
    ),
    "a size without a block": (
        'name = "barnes"',
        'name = "lu_noncontiguous"\noptions = { n = 8 }',
        ["n = 8", "b, which is 16, at most n"],
    ),
    "threads in a grid": (
        'name = "barnes"',
        'name = "lu_contiguous"\noptions = { n = 32 }',
        ["threads = 128", "2 rows of blocks for a grid of 16 x 8 threads"],
    ),
    "threads of a default": (
        "options = { m = 16 }\n",
        '[[benchmark]]\nname = "water_spatial"\n',
        ["threads = 128", "water_spatial has work for 64"],
    ),
    "a box too small": (
        "molecules = 512, energy_every = 2, cutoff = 6.5",
        "molecules = 8",
        ["molecules = 8", "a cutoff, which is 6, up to half the box, 3.1064"],
    ),
    "a cutoff too long": (
        "molecules = 512, energy_every = 2, cutoff = 6.5",
        "cutoff = 1000",
        ["cutoff = 1000", "up to half the box, 12.4254"],
    ),
    "dissection": (
        'name = "barnes"',
        'name = "cholesky"\noptions = { dense = 64, order = "dissection" }',
        ['order = "dissection"', "natural, mindegree"],
    ),
    "two matrices": (
        'name = "barnes"',
        'name = "cholesky"\noptions = { grid = 8, dense = 16 }',
        ["dense = 16", "or a grid"],
    ),
}


@pytest.mark.parametrize("case", BAD_SPLASH)
def test_a_bad_size_of_a_splash_2_program(tmp_path: Path, case: str) -> None:
    old, new, words = BAD_SPLASH[case]
    assert old in SPLASH
    with pytest.raises(FastError) as caught:
        load_experiment(write(tmp_path, SPLASH.replace(old, new)))
    for word in words:
        assert word in str(caught.value)


def test_iterations_must_be_somewhere(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace("iterations = 2000\n", ""))
    with pytest.raises(FastError, match=r"\[\[benchmark\]\] 2: iterations is missing"):
        load_experiment(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FastError, match=r"none\.toml: No such file or directory.*demo\.toml"):
        load_experiment(tmp_path / "none.toml")


def test_not_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.toml"
    path.write_bytes(b"a\xff")
    with pytest.raises(FastError, match="byte 1 is not UTF-8"):
        load_experiment(path)
