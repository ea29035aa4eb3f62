# SPDX-License-Identifier: GPL-2.0
"""The runs of `fast try`, with a stand-in for the machines: what is asked, and what goes wrong."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import samples
from heard import Heard

from fastlab.base.cache import cache_dir
from fastlab.base.model import FastError, Kernel, Machine, Variant, Watchdogs
from fastlab.base.tools import Qemu
from fastlab.cli import main
from fastlab.guest import vm
from fastlab.guest.initramfs import BALANCED_PATH
from fastlab.guest.running_vm import GuestError, WatchdogError
from fastlab.kernel import kernels
from fastlab.plan import presets
from fastlab.trial import in_simulation, verdict, verdict_tables
from fastlab.trial.given import Given
from fastlab.trial.in_simulation import QUANTA
from fastlab.trial.runs import Trial, TrialRequest
from fastlab.trial.subject import RUNNER
from fastlab.trial.verdict import TrialVerdict
from fastlab.trial.verdict_tables import tables

DOCUMENT = {
    **samples.document(elapsed_cycles=2000, cycles=200),
    "futexes": [
        samples.futex(0x1000, wakes=2, handoffs=1),
        samples.futex(0x1000, wakes=3, handoffs=3, program=False),
    ],
}
OUTPUT = {"context_switches": 7, "migrations": None, "maps": ["1000-2000 rw-p 00000000 00:00 0"]}
MECHANISM = {"hint_set": 1, "used": 1, "same_cpu": 0}


def outcome(**changed: Any) -> vm.Outcome:
    given: dict[str, Any] = {
        "document": DOCUMENT,
        "output": OUTPUT,
        "mechanism": MECHANISM,
        "exit_status": 0,
        "errors": (),
        "workload": 1.0,
    }
    return vm.Outcome(**(given | changed))


Answer = Callable[[vm.Job, int], vm.Outcome]


class Lab:
    """A directory with a program, and machines that answer as `answer` does."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.answer: Answer = lambda job, quantum: outcome()
        self.serial = ""
        self.seconds = 5.0
        self.jobs: list[tuple[vm.Job, int, str]] = []
        self.boots = 0
        self.images: set[bytes] = set()
        self.reporter = Heard()
        self._lock = threading.Lock()

    def run(
        self,
        *argv: str,
        memory_mb: int = 512,
        preset: str = Machine.preset,
        given: Given | None = None,
    ) -> Trial:
        machine = Machine(memory_mb=memory_mb, preset=preset)
        words = argv or ("./program",)
        request = TrialRequest(
            words, self.directory, self.seconds, machine=machine, given=given or Given()
        )
        return in_simulation.run(request, self.reporter)

    def run_job(
        self,
        simulation: vm.Simulation,
        snapshot: Path,
        plugin: Path,
        job: vm.Job,
        directory: Path,
        watchdogs: Watchdogs,
        cancelled: threading.Event,
        futexes: str,
        attribute: bool,
        programs: Sequence[Path],
    ) -> vm.Outcome:
        # The program, and the library that it allocates by.
        assert {one.name for one in programs} >= {"program", "libc.so.6"}
        assert snapshot.is_file()
        assert watchdogs.run == self.seconds
        directory.mkdir(parents=True, exist_ok=True)
        if attribute:
            (directory / vm.ATTRIBUTION).write_text(json.dumps(samples.ATTRIBUTED) + "\n")
        (directory / "serial.log").write_text(self.serial)
        quantum = simulation.machine.quantum
        with self._lock:
            self.jobs.append((job, quantum, futexes))
        answer = self.answer(job, quantum)
        if answer.document is None:
            return answer
        preset = presets.load(simulation.machine.preset).name
        return replace(answer, document={**answer.document, "preset": preset})

    def save_machine(self, simulation: vm.Simulation, directory: Path, *others: object) -> None:
        self.boots += 1
        self.images.add(simulation.image.read_bytes())
        directory.mkdir(parents=True)
        (directory / vm.SNAPSHOT).write_bytes(b"machine")


def compiled(directory: Path, status: int) -> None:
    (directory / "main.c").write_text(f"int main(void) {{ return {status}; }}\n")
    subprocess.run(["gcc", "-o", "program", "main.c"], cwd=directory, check=True)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    build = tmp_path / "project/build/user"
    for name in ("guest/init", "guest/subject", "guest/balanced", "cachesim/libcachesim-4.so"):
        (build / "userspace" / name).parent.mkdir(parents=True, exist_ok=True)
        (build / "userspace" / name).write_bytes(Path("/bin/true").read_bytes())
    compiled(tmp_path, 0)
    (tmp_path / "map").write_text(samples.SYSTEM_MAP)
    lab = Lab(tmp_path)
    qemu = tmp_path / "qemu"
    qemu.write_text("#!/bin/sh\necho QEMU emulator version 10.0.2\n")
    qemu.chmod(0o755)
    monkeypatch.setenv("FAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(kernels.Places, "project", tmp_path / "project")
    monkeypatch.setattr(in_simulation, "build_programs", lambda project, reporter: build)
    kernel = Kernel("6.12", "fast", "k", "", str(tmp_path / "map"))
    request = kernels.BuildRequest(places=kernels.Places(tmp_path / "project"))
    # In this module alone: another that is first imported now would keep a changed BuildRequest.
    asked = SimpleNamespace(BuildRequest=lambda *_, **__: request)
    monkeypatch.setattr(in_simulation, "kernels", asked)

    def built_for(arms: Sequence[Variant], *_: object) -> dict[str, Kernel]:
        return {arm.kernel: replace(kernel, variant=arm.kernel) for arm in arms}

    monkeypatch.setattr(in_simulation.needs, "built_for", built_for)
    monkeypatch.setattr(in_simulation.tools, "require_qemu", lambda: Qemu(qemu, 4))
    monkeypatch.setattr(in_simulation.vm, "run_job", lab.run_job)
    monkeypatch.setattr("fastlab.guest.machines.vm.save_machine", lab.save_machine)
    return lab


def refusal(lab: Lab, *argv: str) -> str:
    with pytest.raises(FastError) as caught:
        lab.run(*argv)
    return str(caught.value)


def saved() -> list[Path]:
    """The machines in the cache."""
    return [path for path in (cache_dir() / "try").iterdir() if path.is_dir() and not path.suffix]


def test_where_cpus_share_an_l3_the_guest_has_balanced(lab: Lab) -> None:
    lab.run(preset="epyc-milan")
    assert {tuple(job.argv[:2]) for job, *_ in lab.jobs} == {(BALANCED_PATH, RUNNER)}
    assert all(BALANCED_PATH.lstrip("/").encode() in image for image in lab.images)
    lab.jobs.clear()
    lab.images.clear()
    lab.run()
    assert {job.argv[0] for job, *_ in lab.jobs} == {RUNNER}
    # What else is in its file system moves what the caches see.
    assert not any(BALANCED_PATH.lstrip("/").encode() in image for image in lab.images)


def test_every_arm_is_run_with_every_quantum(lab: Lab) -> None:
    found = lab.run("./program", "two words")
    asked = {(job.fast["policy"], job.cpus, quantum) for job, quantum, _ in lab.jobs}
    arms = (("off", None), ("strict", None), ("adaptive", None), ("off", 1))
    assert asked == {(*arm, quantum) for arm in arms for quantum in QUANTA}
    assert {futexes for _, _, futexes in lab.jobs} == {"next"}
    # And begins at a moment that is that quantum's alone, whatever the arm.
    begins = {(quantum, job.argv[-1].split("%00")[1]) for job, quantum, _ in lab.jobs}
    delays = ("0", "1250000", "2500000", "3750000")
    assert begins == set(zip(QUANTA, delays, strict=True))
    assert found.uncontrolled == ""
    assert len(lab.jobs) == len(found.rows) == len(found.timed) == 4 * len(QUANTA)
    assert {row["variant"] for row in found.rows} == {"off", "strict", "adaptive", "onecpu"}
    assert [row["machine"]["quantum"] for row in found.of_arm("strict")] == [*QUANTA]
    row, timed = found.rows[0], found.timed[0]
    assert row["elapsed_ns"] == 2000
    assert row["counters"]["cycles"]["total"] == 200
    assert (row["migrations"], row["context_switches"]) == (None, 7)
    assert timed.figures["wakeup_p50"] == 2600
    assert [lock.name for lock in timed.locks] == ["anonymous memory", ""]
    (lock,) = row["locks"]
    assert (lock["name"], lock["handoffs"]) == ("anonymous memory", 1)
    table = tables(found)[-1]
    assert table.columns[:3] == ["lock", "arm", "hand-offs"]
    assert [row[1].text for row in table.rows] == ["off", "strict", "adaptive"]
    # From which all quanta go on, without waiting for each other.
    assert lab.boots == 1
    assert not any("another fast" in line for line in lab.reporter.said)


def test_a_machine_is_booted_again_for_another_program_only(lab: Lab) -> None:
    lab.run("./program")
    lab.run("./program", "with", "words")
    assert lab.boots == 1
    compiled(lab.directory, 1)
    lab.run("./program")
    assert lab.boots == 2


def test_the_machines_tried_last_are_kept(lab: Lab) -> None:
    for status in range(in_simulation.KEPT + 2):
        compiled(lab.directory, status)
        lab.run("./program")
    assert len(saved()) == in_simulation.KEPT
    boots = lab.boots
    lab.run("./program")
    assert lab.boots == boots


def test_a_program_is_kept_with_all_its_machines(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_each(machine: Machine, **_: object) -> list[str]:
        return [str(machine.quantum)]

    # As it is with some presets.
    monkeypatch.setattr("fastlab.guest.machines.hardware.arguments", one_each)
    for status in range(in_simulation.KEPT + 1):
        compiled(lab.directory, status)
        lab.run("./program")
    boots = lab.boots
    for status in range(1, in_simulation.KEPT + 1):
        compiled(lab.directory, status)
        lab.run("./program")
    assert lab.boots == boots
    assert len(saved()) == in_simulation.KEPT * len(QUANTA)


def test_older_machines_go_whatever_becomes_of_the_last_program(lab: Lab) -> None:
    for status in range(in_simulation.KEPT):
        compiled(lab.directory, status)
        lab.run("./program")
    half = cache_dir() / "try/aaaa.new"
    half.mkdir()
    half.with_suffix(".lock").touch()
    compiled(lab.directory, 77)
    lab.answer = lambda job, quantum: outcome(exit_status=3)
    refusal(lab)
    assert len(saved()) == in_simulation.KEPT
    # Another process may be making it.
    assert half.is_dir() and half.with_suffix(".lock").is_file()


def test_a_program_that_fails_is_told_with_its_last_words(lab: Lab) -> None:
    words = tuple(f"line {i}" for i in range(20))
    lab.answer = lambda job, quantum: outcome(exit_status=3, errors=words)
    said = refusal(lab)
    assert f"{lab.directory}/program ended with status 3 with policy" in said
    assert "line 19" in said
    assert "line 9\n" not in said
    lab.answer = lambda job, quantum: outcome(exit_status=139, document=None, output=None)
    assert "was ended by SIGSEGV with policy" in refusal(lab)
    assert "(no error output)" in refusal(lab)
    assert "AVX-512" not in refusal(lab)
    lab.answer = lambda job, quantum: outcome(exit_status=132, document=None, output=None)
    assert "was ended by SIGILL with policy" in refusal(lab)
    assert "has AVX2, but not AVX-512: build the program for -march" in refusal(lab)
    # A signal that has no name.
    lab.answer = lambda job, quantum: outcome(exit_status=128 + 40, document=None, output=None)
    assert "was ended by signal 40 with policy" in refusal(lab)


def test_the_end_of_its_output_is_told_too(lab: Lab) -> None:
    printed = tuple(f"printed {i}" for i in range(20))

    def answer(job: vm.Job, quantum: int) -> vm.Outcome:
        """It passes its output on only where that is asked for."""
        shown = job.argv[1].startswith("shown%00")
        said = (*printed, 'no newline{"context_switches":1,"maps":[]}') if shown else ()
        return outcome(exit_status=3, errors=("oops",), output_lines=said)

    lab.answer = answer
    said = refusal(lab).splitlines()
    assert said[1:3] == ["oops", "the end of its output:"]
    assert said[3:13] == [*printed[-9:], "no newline"]

    def ends_well_then(job: vm.Job, quantum: int) -> vm.Outcome:
        status = 0 if job.argv[1].startswith("shown%00") else 3
        return outcome(exit_status=status, output_lines=printed)

    def hangs_then(job: vm.Job, quantum: int) -> vm.Outcome:
        if job.argv[1].startswith("shown%00"):
            raise WatchdogError("watchdog")
        return outcome(exit_status=3)

    for lab.answer in (ends_well_then, hangs_then):
        said = refusal(lab).splitlines()
        assert "ended with status 3" in said[0] and "the end of its output:" not in said


def test_what_it_wrote_on_its_standard_error_is_told_after_success(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lab.directory)
    words = (*(f"line {i}" for i in range(20)), f"./script: 2: \x1b[1mxz{'z' * 300}: not found")

    def answer(job: vm.Job, quantum: int) -> vm.Outcome:
        return outcome(errors=words if job.fast["policy"] != "adaptive" else ())

    lab.answer = answer
    lab.seconds = 600
    assert main.main(["try", "--json=all.json", "--", "./program"]) == 0
    said = capsys.readouterr().out
    assert (
        "- ./program ended with status 0, but wrote to its standard error in 12 of 16 runs" in said
    )
    assert "    line 10\n" not in said and "    line 11\n" in said
    assert "    ./script: 2: ?[1mxzzz" in said and "z" * 201 not in said
    # And that the stand-in ends at once.
    doubt, _ = json.loads((lab.directory / "all.json").read_text())["doubts"]
    assert doubt in said
    lab.answer = lambda job, quantum: outcome(errors=("oops",))
    doubt, _ = verdict_tables.doubts(lab.run())
    assert "in each run" in doubt and doubt.endswith("\n    oops")
    lab.answer = lambda job, quantum: outcome()
    (short,) = verdict_tables.doubts(lab.run())
    assert "ends after" in short


def test_one_failure_of_many_runs_is_a_failure(lab: Lab) -> None:
    def answer(job: vm.Job, quantum: int) -> vm.Outcome:
        strict = job.fast["policy"] == "strict"
        return outcome(exit_status=1 if strict and quantum == QUANTA[-1] else 0)

    lab.answer = answer
    assert "ended with status 1 with policy strict" in refusal(lab)


def test_what_the_program_is_given_is_in_each_job(lab: Lab) -> None:
    given = Given(environment=(("NAME", "two words"), ("EMPTY", "")), date=1_700_000_000)
    lab.run(given=given)
    assert len(lab.jobs) == 16
    for job, *_ in lab.jobs:
        assert dict(job.environment) == {"NAME": "two words", "EMPTY": ""}
        assert job.date == 1_700_000_000


def test_a_status_is_ignored_if_asked(lab: Lab) -> None:
    lab.answer = lambda job, quantum: outcome(exit_status=3)
    found = lab.run(given=Given(ignore_status=True))
    assert "failed" not in {row["status"] for row in found.rows} and not found.uncontrolled
    # The runner has no document of a program that it could not start.
    lab.answer = lambda job, quantum: outcome(exit_status=127, document=None, output=None)
    with pytest.raises(FastError, match="ended with status 127"):
        lab.run(given=Given(ignore_status=True))


def test_a_server_that_fails_is_told_by_the_runners_words(lab: Lab) -> None:
    words = ("subject: the server x ended with status 1 before the program did", "its last words")
    lab.answer = lambda job, quantum: outcome(exit_status=126, errors=words, document=None)
    said = refusal(lab).splitlines()
    assert said[0] == "the server x ended with status 1 before the program did"
    assert said[1] == "its last words" and said[2].startswith("(logs: ")


def test_locks_of_a_server_have_its_name(lab: Lab) -> None:
    maps = {"server_maps": ["1000-2000 rw-p 00000000 00:00 0 [heap]"]}
    lab.answer = lambda job, quantum: outcome(output={**OUTPUT, **maps})
    found = lab.run(given=Given(server=("./program",)))
    assert all(len(job.argv) == 3 for job, *_ in lab.jobs)
    names = [lock.name for lock in found.timed[0].locks]
    assert names == ["anonymous memory", "program: heap"]
    (table,) = [one for one in tables(found) if one.columns[0] == "hand-offs come from"]
    assert [row[0].text for row in table.rows] == ["program: heap", "anonymous memory"]


def test_a_control_that_fails_in_any_run_is_not_available(lab: Lab) -> None:
    def answer(job: vm.Job, quantum: int) -> vm.Outcome:
        return outcome(exit_status=1 if job.cpus and quantum == QUANTA[1] else 0)

    lab.answer = answer
    found = lab.run()
    assert {row["variant"] for row in found.rows} == {"off", "strict", "adaptive"}
    assert "/program ended with status 1 with policy off on 1 CPU\n" in found.uncontrolled

    def hang(job: vm.Job, quantum: int) -> vm.Outcome:
        if job.cpus:
            raise WatchdogError("watchdog: run took longer than 5 s")
        return outcome()

    lab.answer = hang
    assert "took longer than 5 s with policy off on 1 CPU" in lab.run().uncontrolled


def test_a_guest_in_trouble_is_an_error_on_one_cpu_too(lab: Lab) -> None:
    def panic(job: vm.Job, quantum: int) -> vm.Outcome:
        if job.cpus:
            raise GuestError("the guest's kernel is in trouble")
        return outcome()

    lab.answer = panic
    assert refusal(lab) == "the guest's kernel is in trouble"


def test_a_guest_without_memory_is_told_how_to_get_more(lab: Lab) -> None:
    lab.serial = "Out of memory: Killed process 77 (program)\n"
    lab.answer = lambda job, quantum: outcome(exit_status=137)
    said = refusal(lab)
    assert "was ended by SIGKILL" in said
    assert "more than 512 MB (--memory-mb)" in said

    def panic(job: vm.Job, quantum: int) -> vm.Outcome:
        raise GuestError("the guest's kernel is in trouble")

    lab.answer = panic
    assert "(--memory-mb)" in refusal(lab)
    lab.serial = ""
    assert refusal(lab) == "the guest's kernel is in trouble"


def test_a_program_that_takes_too_long_is_told_of_timeout(lab: Lab) -> None:
    def hang(job: vm.Job, quantum: int) -> vm.Outcome:
        raise WatchdogError("watchdog: run took longer than 5 s")

    lab.answer = hang
    said = refusal(lab)
    assert f"{lab.directory}/program took longer than 5 s with policy" in said
    assert "(--timeout)\n" in said
    # One that listens, and answers nothing.
    with pytest.raises(
        FastError, match=r"\(--timeout\), or waits for an answer of its server sh\n"
    ):
        lab.run(given=Given(server=("sh", "-c", "exec sleep 60")))


def test_markers_that_are_not_passed_are_told(lab: Lab) -> None:
    lab.answer = lambda job, quantum: outcome(document=None)
    assert "ended without a region of interest" in refusal(lab)


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["try"], 2, "no program given: fast try [options] -- PROGRAM"),
        (["try", "--cpus", "65", "--", "true"], 2, "at most 64"),
        (["try", "--presets", "rx4640,none", "--", "true"], 2, "--presets none: there is no such"),
        (["try", "--presets=rx4640,xeon-2s", "--annotate", "--", "true"], 2, "on one machine"),
        (["try", "--memory-mb", "3073", "--", "true"], 2, "at most 3072"),
        (
            ["try", "--stdin", "/nonexistent", "--", "true"],
            1,
            "/nonexistent: no such file; --stdin",
        ),
        (["try", "--stdin", "/usr", "--", "true"], 1, "/usr: is not a file; --stdin takes"),
        (["try", *["--env=A=1"] * 65, "--", "true"], 2, "65 variables; at most 64"),
        (["try", "--json", "/nonexistent/file", "--", "true"], 1, "its directory does not exist"),
    ],
)
def test_bad_usage(
    words: Sequence[str], status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(words) == status
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--env", "NAME"], "'NAME' is not NAME=VALUE"),
        (["--env", "=x"], "'=x' is not NAME=VALUE"),
        (["--env", "A=1\n2"], "is not NAME=VALUE"),
        (["--date", "soon"], "'soon' is neither today nor a day"),
        (["--date", "1969-12-31"], "allowed are the years 1970"),
    ],
)
def test_bad_options_of_the_program(
    words: Sequence[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main.main(["try", *words, "--", "true"])
    assert says in capsys.readouterr().err


def test_the_default_machine_is_a_server_of_our_days(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lab.directory)
    lab.seconds = 600
    assert main.main(["try", "--", "./program"]) == 0
    assert "the whole program, on 4 CPUs of epyc-milan" in capsys.readouterr().out


def test_opposite_signs_are_the_first_line(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lab.directory)
    lab.seconds = 600
    words = ["try", "--presets=rx4640,epyc-milan", "--json=all.json", "--", "./program"]
    assert main.main(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "On rx4640:" and "On epyc-milan:" in said

    def judge(trial: Trial) -> list[TrialVerdict]:
        here = trial.request.machine.preset == "rx4640"
        return [
            TrialVerdict("strict", "helps" if here else "hurts", "It does."),
            TrialVerdict("adaptive", "helps" if here else "no difference", "It may."),
        ]

    monkeypatch.setattr(verdict, "judge", judge)
    assert main.main(words) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == (
        "The sign depends on the machine: strict helps this program on rx4640, and hurts it "
        "on epyc-milan."
    )
    document = json.loads((lab.directory / "all.json").read_text())
    assert document["opposite"] == [first]
    presets_of = [trial["machine"]["preset"] for trial in document["trials"]]
    assert presets_of == ["rx4640", "epyc-milan"]


def test_the_command_prints_table_and_verdict(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lab.directory)
    lab.seconds = 7
    preset = presets.load("rx4640").path.read_text().replace('"rx4640"', '"mine"')
    (lab.directory / "mine.toml").write_text(preset)
    words = ["--timeout=7", "--json=all.json", "--preset=mine.toml"]
    assert main.main(["try", *words, "--", "./program", "--json", "x"]) == 0
    said = capsys.readouterr().out
    assert "./program --json x: the whole program, on 4 CPUs of mine" in said
    for policy in ("strict", "adaptive"):
        assert f"Policy {policy} has no measurable effect on this program's time" in said
    document = json.loads((lab.directory / "all.json").read_text())
    assert len(document["runs"]) == 16
    # The command line did not ask for it.
    assert "attribution" not in document
    assert not (lab.directory / "results").exists()


def test_the_command_attributes_if_asked_to(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lab.directory)
    lab.seconds = 7
    words = ["try", "--timeout=7", "--relevant=0.5", "--annotate", "--json=all.json"]
    assert main.main([*words, "--", "./program"]) == 0
    said = capsys.readouterr().out
    assert "Stall cycles by function: program" in said
    assert "try_to_wake_up" in said
    document = json.loads((lab.directory / "all.json").read_text())
    assert document["relevant_pct"] == 0.5
    attributed = document["attribution"]
    arms = ["off", "strict", "adaptive", "onecpu"]
    assert [one["variant_name"] for one in attributed] == arms
    assert [one["totals"]["cycles"] for one in attributed] == [5 * len(QUANTA)] * 4
    for arm in arms:
        text = (lab.directory / f"results/try-program/{arm}.callgrind").read_text()
        assert "cmd: ./program" in text


def test_where_its_files_cannot_go_is_said_before_the_runs(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lab.directory)
    (lab.directory / "results").touch()
    assert main.main(["try", "--annotate", "--", "./program"]) == 1
    assert "results is a file; name a directory" in capsys.readouterr().err
    assert lab.jobs == []
