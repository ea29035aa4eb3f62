# SPDX-License-Identifier: GPL-2.0
"""A preset from measurements, with a shell script for fast-calibrate."""

from __future__ import annotations

import copy
import errno
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from fake_machine import FakeMachine
from waiting import eventually

from fastlab.backend.host import only_user, without_fast
from fastlab.base.model import FastError
from fastlab.cli import calibrate as cli_calibrate
from fastlab.cli import common, main
from fastlab.guest import meson
from fastlab.plan import presets
from fastlab.statistics import environment
from fastlab.statistics.estimates import Estimate, estimate
from fastlab.trust import calibrate
from fastlab.trust.calibrate import Measurements

PRIVATE = {"size": 32768, "ways": 8, "line": 64, "cpus": 1}
CYCLES_OF = {
    "refused_wait": 819.0,
    "pause": 40.0,
    "latency_l1": 4.0,
    "latency_l2": 14.0,
    "latency_l3": 46.0,
    "latency_memory": 300.0,
    "chases_1": 46.0,
    "chases_2": 23.0,
    "chases_4": 12.0,
    "chases_8": 6.0,
    "chases_16": 6.0,
    "transfer_near": 120.0,
    "transfer_far": 450.0,
    "transfers_1": 150.0,
    "transfers_16": 240.0,
    "reload": 5.0,
    "interrupt": 1120.0,
    "handoff_same_cpu": 5000.0,
    "handoff_other_cpu": 9000.0,
    "handoff_idle_cpu": 20000.0,
}
# At 2,000 MHz.
DOCUMENT: dict[str, Any] = {
    "schema": 1,
    "cpu": "Some CPU",
    "cpus": 4,
    "caches": {
        "l1i": PRIVATE,
        "l1d": {**PRIVATE, "size": 49152, "ways": 12},
        "l2": {**PRIVATE, "size": 524288},
        "l3": {"size": 33554432, "ways": 16, "line": 64, "cpus": 2},
    },
    "quantities": {
        "frequency": {"unit": "MHz", "values": [2000.0] * 3, "why_not": None},
        "cpi": {"unit": "cycles per instruction", "values": [0.5] * 3, "why_not": None},
        **{
            name: {"unit": "ns", "values": [cycles / 2] * 3, "why_not": None}
            for name, cycles in CYCLES_OF.items()
        },
    },
}


@pytest.fixture
def document() -> dict[str, Any]:
    return copy.deepcopy(DOCUMENT)


def missing(document: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        document["quantities"][name] |= {"values": None, "why_not": "one CPU only"}
    return document


def of(document: dict[str, Any]) -> Measurements:
    return calibrate._calibration(document)


def preset(document: dict[str, Any]) -> dict[str, Any]:
    """The keys and values of its preset, keys with dots."""
    text = calibrate.preset_text(of(document), "some", "2026-01-02")
    flat: dict[str, Any] = {}
    for key, value in tomllib.loads(text).items():
        inner = (
            {f"{key}.{name}": one for name, one in value.items()} if isinstance(value, dict) else {}
        )
        flat |= inner or {key: value}
    return flat


def fake(build: Path, script: str) -> Path:
    path = build / calibrate.PROGRAM
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "$*" > {build}/words\n{script}\n')
    path.chmod(0o755)
    return build


def says(build: Path, document: object) -> Path:
    (build / "document").write_text(json.dumps(document))
    return fake(build, f"cat {build}/document")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([5.0], Estimate(5.0, 0.0)),
        ([0.0, 0.0], Estimate(0.0, 0.0)),
        ([10.0, 10.0, 10.0], Estimate(10.0, 0.0)),
        ([8.0, 9.0, 10.0, 11.0, 12.0], Estimate(10.0, 0.2)),
        # One that was disturbed neither moves the figure nor makes it noisy.
        ([10.0, 10.0, 10.0, 10.0, 900.0], Estimate(10.0, 0.0)),
    ],
)
def test_a_median_and_its_spread(values: list[float], expected: Estimate) -> None:
    assert estimate(values) == expected


def test_noisy_is_above_a_fifth() -> None:
    assert not Estimate(1.0, 0.2).noisy
    assert Estimate(1.0, 0.21).noisy


def test_cycles_are_those_of_the_same_repetition(document: dict[str, Any]) -> None:
    document["quantities"]["frequency"]["values"] = [1000.0, 2000.0, 4000.0]
    document["quantities"]["latency_l2"]["values"] = [16.0, 8.0, 4.0]
    found = of(document)
    assert found.quantities["latency_l2"].cycles == (16.0, 16.0, 16.0)
    assert found.quantities["frequency"].cycles is None
    assert found.quantities["cpi"].cycles is None


def test_the_table_says_what_is_noisy_and_what_is_not_there(document: dict[str, Any]) -> None:
    document["quantities"]["latency_memory"]["values"] = [100.0, 150.0, 200.0]
    found = of(missing(document, "transfer_far"))
    assert found.noisy() == ["latency_memory"]
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in calibrate.table(found).rows}
    assert rows["latency_l1"] == ["ns", "ok", "2.00", "4.00", "0 %"]
    assert rows["latency_memory"] == ["ns", "too noisy", "150", "300", "33 %"]
    assert rows["transfer_far"] == ["ns", "one CPU only", "n/a", "n/a", "n/a"]
    assert rows["frequency"] == ["MHz", "ok", "2,000", "", "0 %"]


def test_a_preset_has_every_key_and_what_was_measured(document: dict[str, Any]) -> None:
    assert preset(document) == {
        "name": "some",
        "mhz": 2000,
        "cpi": 50,
        "kernel_cpi": 130,
        "overlap": 8,
        "overlap_window": 256,
        "clusters": 0,
        "cluster_cpus": 2,
        "l1i.size": 32768,
        "l1i.ways": 8,
        "l1i.line": 64,
        "l1i.replacement": "lru",
        "l1d.size": 49152,
        "l1d.ways": 12,
        "l1d.line": 64,
        "l1d.replacement": "lru",
        "l1d.write": "back",
        "l2.size": 524288,
        "l2.ways": 8,
        "l2.line": 64,
        "l2.replacement": "lru",
        "l3.size": 33554432,
        "l3.ways": 16,
        "l3.line": 64,
        "l3.replacement": "lru",
        "l3.shared": True,
        "migratory": False,
        "latency.l2": 10,
        "latency.l3": 32,
        "latency.transfer": 34,
        "latency.next_transfer": 6,
        "latency.memory": 254,
        "latency.remote_memory": 254,
        "latency.cache_to_cache": 254,
        "latency.upgrade": 150,
        "bus": 0,
        "pause": 40,
        "context_switch": 316,
        "wakeup": 4000,
        "interrupt": 1000,
    }


def test_a_copy_that_is_gone_was_taken(document: dict[str, Any]) -> None:
    document["quantities"]["reload"]["values"] = [60.0] * 3
    found = preset(document)
    assert found["migratory"] is True
    # A line goes to the CPU that waits for it, back to be written, and there again.
    assert found["latency.transfer"] == 120 // 2 - 46
    assert found["latency.cache_to_cache"] == 450 // 2 - 46


def test_a_preset_is_of_medians(document: dict[str, Any]) -> None:
    known = preset(document)
    memory, cpi = (document["quantities"][name] for name in ("latency_memory", "cpi"))
    memory["values"] = [1.0, *memory["values"][:1], 900.0]
    cpi["values"] = [0.1, 0.5, 9.0]
    assert preset(document) == known


def test_a_preset_is_one_for_the_simulation(tmp_path: Path, document: dict[str, Any]) -> None:
    path = tmp_path / "some.toml"
    path.write_text(calibrate.preset_text(of(document), "some", "2026-01-02"))
    found = presets.load(path)
    assert (found.name, found.mhz, found.wakeup, found.l3s(4)) == ("some", 2000, 4000, 2)


@pytest.mark.parametrize(("cpus", "written"), [(0, 1), (64, 64), (96, 64)])
def test_a_cluster_is_no_larger_than_the_model_takes(
    document: dict[str, Any], cpus: int, written: int
) -> None:
    document["caches"]["l3"]["cpus"] = cpus
    assert preset(document)["cluster_cpus"] == written


def test_a_preset_says_where_it_is_from(document: dict[str, Any]) -> None:
    document["quantities"]["latency_memory"]["values"] = [100.0, 150.0, 200.0]
    text = calibrate.preset_text(of(missing(document, "transfer_far")), "some", "2026-01-02")
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert "# Some CPU, 4 CPUs, measured on 2026-01-02" in comments
    assert "#   latency_memory: 150 ns, 300 cycles, 33 % (too noisy)" in comments
    assert "#   transfer_far: not available: one CPU only" in comments
    assert re.search(r"^wakeup = 4000 +# handoff_other_cpu - handoff_same_cpu$", text, re.MULTILINE)


def test_one_l3_has_no_other_to_take_a_line_from(document: dict[str, Any]) -> None:
    found = preset(missing(document, "transfer_far"))
    assert found["latency.cache_to_cache"] == found["latency.upgrade"] == 254


def test_what_takes_two_cpus_is_0_on_one(document: dict[str, Any]) -> None:
    names = ("transfer_near", "transfer_far", "interrupt", "handoff_other_cpu", "handoff_idle_cpu")
    found = preset(missing(document, "transfers_1", "transfers_16", "reload", *names))
    assert found["migratory"] is False
    assert (found["wakeup"], found["interrupt"]) == (0, 0)
    assert (found["latency.transfer"], found["latency.next_transfer"]) == (0, 0)


def test_a_pause_is_no_shorter_than_the_model_takes(document: dict[str, Any]) -> None:
    document["quantities"]["pause"]["values"] = [1.0] * 3
    assert preset(document)["pause"] == presets.LEAST_PAUSE


def test_noise_makes_no_latency_negative(document: dict[str, Any]) -> None:
    document["quantities"]["latency_l3"]["values"] = [5.0] * 3
    document["quantities"]["handoff_other_cpu"]["values"] = [5.0] * 3
    document["quantities"]["transfers_16"]["values"] = [5.0] * 3
    found = preset(document)
    assert (found["latency.l3"], found["wakeup"], found["latency.next_transfer"]) == (0, 0, 0)


def test_the_kernel_is_no_faster_than_a_program(document: dict[str, Any]) -> None:
    document["quantities"]["refused_wait"]["values"] = [100.0] * 3
    assert preset(document)["kernel_cpi"] == 50


@pytest.mark.parametrize(
    ("cache", "expected"),
    [
        # 36 MB in 18 ways; in 16 of them its sets would be no power of two.
        ({"size": 36 << 20, "ways": 18, "line": 64}, (18, 64, 36 << 20)),
        ({"size": 36 << 20, "ways": 16, "line": 64}, (18, 64, 36 << 20)),
        ({"size": 30 << 20, "ways": 20, "line": 64}, (30, 64, 30 << 20)),
        # Not told, and fully associative.
        ({"size": 32768, "ways": 0, "line": 0}, (8, 64, 32768)),
        ({"size": 32768, "ways": -1, "line": 64}, (8, 64, 32768)),
    ],
)
def test_sets_are_a_power_of_two(cache: dict[str, int], expected: tuple[int, int, int]) -> None:
    ways, line, size = calibrate._sets(cache)
    assert (ways, line, size) == expected
    assert (size // (ways * line)).bit_count() == 1


@pytest.mark.parametrize("level", ["l1i", "l1d", "l2", "l3"])
def test_without_a_level_there_is_no_preset(document: dict[str, Any], level: str) -> None:
    document["caches"][level] = None
    with pytest.raises(FastError, match=f"does not report its {level}, which the cache"):
        preset(document)


@pytest.mark.parametrize(
    "name", ["latency_l1", "latency_l2", "latency_memory", "cpi", "refused_wait"]
)
def test_without_a_latency_there_is_no_preset(document: dict[str, Any], name: str) -> None:
    with pytest.raises(FastError, match=f"{name} is not available: one CPU only"):
        preset(missing(document, name))


@pytest.mark.parametrize("name", ["x", "X.toml", "a b.toml", "x.json", f"{'x' * 32}.toml", ".toml"])
def test_a_preset_is_called_as_its_file(name: str) -> None:
    assert calibrate.preset_name(Path("/some/my-machine_2.toml")) == "my-machine_2"
    with pytest.raises(FastError, match=r"allowed: up to 31 small letters"):
        calibrate.preset_name(Path(name))


def test_the_program_is_asked_for_repetitions(tmp_path: Path, document: dict[str, Any]) -> None:
    found = calibrate.measure(says(tmp_path, document), 3)
    assert (tmp_path / "words").read_text() == "--repeat 3\n"
    assert found == of(document)


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("echo cannot allocate 128 MB >&2; exit 1", "ended with status 1: cannot allocate 128 MB"),
        ("kill -SEGV $$", "killed by SIGSEGV"),
        ("echo nonsense", "printed no calibration"),
        ("echo '{}'", "printed no calibration"),
        ("echo '[1]'", "printed no calibration"),
        ("exec sleep 60", "did not end within 0.5 s"),
    ],
)
def test_a_program_that_fails_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, what: str
) -> None:
    seconds = 0.5 if "sleep" in script else 60.0
    monkeypatch.setattr(calibrate, "SECONDS_A_REPETITION", seconds)
    with pytest.raises(FastError, match=re.escape(what)):
        calibrate.measure(fake(tmp_path, script), 1)


def test_a_program_that_is_not_built_is_named(tmp_path: Path) -> None:
    with pytest.raises(FastError, match="fast-calibrate: not built; build the programs first"):
        calibrate.measure(tmp_path, 1)


def test_without_one_chase_alone_loads_do_not_overlap(document: dict[str, Any]) -> None:
    assert preset(missing(document, "chases_4"))["overlap"] == 8
    assert preset(missing(document, "chases_1"))["overlap"] == 1
    assert re.search(
        "^overlap = 1 +# not available$",
        calibrate.preset_text(of(document), "some", "2026-01-02"),
        re.MULTILINE,
    )


class Lab:
    """`fast calibrate` with a program that says DOCUMENT."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        monkeypatch.setattr(meson, "build_programs", lambda *_: directory)
        monkeypatch.setattr(signal, "signal", lambda *_: None)
        says(directory, DOCUMENT)
        self.machine = FakeMachine(directory / "machine")
        root = self.machine.root
        monkeypatch.setattr(cli_calibrate, "without_fast", lambda _: without_fast(root))


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(tmp_path, monkeypatch)


def test_the_command_prints_and_writes(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    out = lab.directory / "mine.toml"
    assert main.main(["calibrate", "--out", str(out), "--repeat", "3"]) == 0
    said = capsys.readouterr().out
    assert "latency_memory" in said
    assert f"wrote {out}" in said
    assert "noisy" not in said
    assert tomllib.loads(out.read_text())["name"] == "mine"


def test_a_preset_that_the_simulation_would_refuse_is_not_said_to_be_one(
    lab: Lab, document: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    document["quantities"]["cpi"]["values"] = [200.0] * 3
    says(lab.directory, document)
    out = lab.directory / "mine.toml"
    assert main.main(["calibrate", "--out", str(out)]) == 1
    said = capsys.readouterr()
    assert "latency_memory" in said.out
    assert f"wrote {out}" not in said.out
    assert "mine.toml: cpi = 20000; allowed: 1 to 600" in said.err


def test_without_a_file_it_only_prints(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(lab.directory.iterdir())
    assert main.main(["calibrate"]) == 0
    assert sorted(lab.directory.iterdir()) == sorted([*before, lab.directory / "words"])
    assert (lab.directory / "words").read_text() == "--repeat 11\n"
    assert "wrote" not in capsys.readouterr().out


def test_what_makes_the_machine_doubtful_is_said(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "doubts", lambda runs: [f"of {len(runs)}: a governor."])
    assert main.main(["calibrate"]) == 0
    assert "- of 1: a governor.\n" in capsys.readouterr().out


def test_nobody_else_may_measure(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    with only_user(lab.machine.root):
        assert main.main(["calibrate"]) == 1
    assert "is measuring on this machine" in capsys.readouterr().err
    assert not (lab.directory / "words").exists()


def test_noise_is_said(
    lab: Lab, document: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    document["quantities"]["interrupt"]["values"] = [1.0, 2.0, 3.0]
    says(lab.directory, document)
    assert main.main(["calibrate"]) == 0
    assert "interrupt is too noisy: measure again when" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--out", "no/such/mine.toml"], "its directory does not exist; create it first"),
        (["--out", "Mine.toml"], "allowed: up to 31 small letters"),
        (["--out", "rx4640.toml"], "rx4640 is a built-in preset's name: use another"),
    ],
)
def test_what_cannot_be_written_is_said_before(
    lab: Lab, words: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["calibrate", *words]) == 1
    assert what in capsys.readouterr().err
    assert not (lab.directory / "words").exists()


def test_a_full_disk_leaves_the_older_preset(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    out = lab.directory / "mine.toml"
    out.write_text("older")
    monkeypatch.setattr(os, "fsync", full)
    assert main.main(["calibrate", "--out", str(out)]) == 1
    assert f"{out}: cannot be written: No space left on device" in capsys.readouterr().err
    assert out.read_text() == "older"


def test_interrupted_it_leaves_nothing(tmp_path: Path) -> None:
    """In a process of its own, which Ctrl-C reaches with its child."""
    fake(tmp_path, f"touch {tmp_path}/running; exec sleep 60")
    program = (
        "import sys; from pathlib import Path; "
        "from contextlib import nullcontext; from fastlab.cli import calibrate, main; "
        "from fastlab.guest import meson; calibrate.without_fast = lambda _: nullcontext(); "
        f"meson.build_programs = lambda *_: Path({str(tmp_path)!r}); "
        f"sys.exit(main.main(['calibrate', '--out', {str(tmp_path / 'mine.toml')!r}]))"
    )
    scripts = Path(__file__).resolve().parents[1]
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(scripts)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert eventually(lambda: (tmp_path / "running").exists() or process.poll() is not None)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == common.INTERRUPTED, said
    assert "interrupted" in said
    assert not (tmp_path / "mine.toml").exists()
