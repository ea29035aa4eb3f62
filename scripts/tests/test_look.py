# SPDX-License-Identifier: GPL-2.0
"""`fast look`: kinds of words, verdicts, probes, and the command.

looks/NAME.json is what fast-look has counted of a program of tests/runtimes, without its memory
map: `fast-look --json NAME.json -- waits NAME 2000`, and with the probes of runtimes.py.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from heard import Heard

from fastlab.base.model import FastError
from fastlab.cli import main
from fastlab.look import answer, record
from fastlab.look.record import LookRequest
from fastlab.look.runtimes import FUNCTIONS, Probe, SlowPath, files_of, probes_of
from fastlab.look.waits import Look, look_of
from fastlab.look.words import BITSET, PI, PLAIN, REALTIME, Part, Word, kinds

LOOKS = Path(__file__).parent / "looks"
PROGRAM = Path("/bin/true")
TRY = "fast try -- ./program"


def document(name: str, **changes: Any) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((LOOKS / f"{name}.json").read_text())
    return {**read, **changes}


def probes(*functions: SlowPath) -> list[Probe]:
    return [Probe(function, PROGRAM, 0) for function in functions]


def recorded(name: str, **changes: Any) -> Look:
    function = {"go": 0, "parking_lot": 2, "java": 4}.get(name, 0)
    return look_of(document(name, **changes), PROGRAM, probes(FUNCTIONS[function]))


# A lock that two threads take in turn; its value says nothing.
PARTS = (Part(1, 50, 50, 10, 100), Part(2, 50, 50, 10, 100))
WORD = Word(
    process=1,
    address=0x1000,
    probe=None,
    found_taken=0,
    forms=PLAIN,
    waits=100,
    wakes=100,
    ones=100,
    woken=100,
    taken=100,
    remote=0,
    moved=0,
    in_vain=0,
    handoff_ns=0,
    first=1,
    last=1,
    changes=0,
    falls=0,
    threads=PARTS,
)


def kind(word: Word, *beside: Word) -> str:
    return kinds([word, *beside])[0]


@pytest.mark.parametrize("name", ["mutex", "semaphore", "rwlock", "cxx_semaphore"])
def test_locks(name: str) -> None:
    look = recorded(name)
    (lock,) = answer.contended_locks(look)
    assert (lock.kind, lock.words, lock.waiters) == ("lock", 1, 4)
    assert answer.verdict(look, TRY).startswith("One lock ")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("parking_lot", "mutex of parking_lot"),
        ("go", "mutex of Go"),
        ("java", "monitor of Java"),
    ],
)
def test_locks_whose_waiters_wait_for_words_of_their_own(name: str, what: str) -> None:
    (lock,) = [wait for wait in recorded(name).waits if wait.what == what]
    assert lock.kind == "lock"
    assert lock.handoffs and lock.found_taken
    # Without the probe each waiter's word is seen, and no lock.
    words = [{**word, "probe": None} for word in document(name)["words"]]
    assert what not in {wait.what for wait in recorded(name, words=words).waits}


@pytest.mark.parametrize("name", ["condition", "signals", "barrier"])
def test_conditions_are_no_contended_locks(name: str) -> None:
    look = recorded(name)
    assert answer.contended_locks(look) == []
    assert answer.verdict(look, TRY).startswith("No contended lock: threads wait for conditions")
    assert max(look.waits, key=lambda wait: wait.handoffs).kind == "condition"


def test_the_two_words_of_a_condition_are_one_row() -> None:
    conditions = [wait for wait in recorded("condition").waits if wait.kind == "condition"]
    assert [wait.words for wait in conditions] == [2, 2]


def test_values_tell_a_lock() -> None:
    one = replace(WORD, threads=PARTS[:1])
    assert kind(replace(one, first=2, last=2)) == "lock"
    assert kind(replace(one, first=0x80000123, last=0x80000456, changes=9, falls=4)) == "lock"
    assert kind(replace(one, forms=BITSET | REALTIME, first=3, last=2, changes=9)) == "lock"
    assert kind(replace(one, forms=PI, first=0, last=0)) == "lock"
    # thread::park() of Rust waits for the value -1.
    assert kind(replace(one, forms=BITSET, first=0xFFFFFFFF, last=0xFFFFFFFF)) == "waiter"


def test_a_counter_is_a_condition() -> None:
    assert kind(replace(WORD, first=0, last=90, changes=90, falls=0)) == "condition"
    # Across two CPUs some waits are seen late; states of a lock come again.
    assert kind(replace(WORD, first=0, last=90, changes=90, falls=2)) == "condition"
    assert kind(replace(WORD, first=1, last=3, changes=90, falls=45)) == "lock"


def test_two_words_beside_each_other_are_a_condition() -> None:
    word = replace(WORD, forms=BITSET | REALTIME, first=0, last=0)
    assert kind(word) == "lock"
    assert kind(word, replace(word, address=0x1004)) == "condition"
    # Not across eight bytes, of another process, or of plain waits, as two locks have them.
    assert kind(word, replace(word, address=0xFFC)) == "lock"
    assert kind(word, replace(word, address=0x1004, process=2)) == "lock"
    assert kind(word, replace(word, address=0x1004, forms=PLAIN)) == "lock"


def test_threads_that_only_wake_signal() -> None:
    signalled = (*(replace(part, wakes=0) for part in PARTS), Part(3, 0, 100, 0, 100))
    assert kind(replace(WORD, threads=signalled)) == "condition"
    assert kind(WORD) == "lock"


def test_words_that_no_call_wakes_are_not_shown() -> None:
    joined = replace(WORD, woken=0, wakes=0)
    assert kind(joined) == "unwoken"
    words = [{**asdict(joined), "threads": [[1, 1, 0, 900, 1000]]}]
    assert recorded("mutex", words=words).waits == []


def only(**changes: Any) -> Look:
    """A second of one lock, with other counts."""
    word = {
        **asdict(replace(WORD, **changes)),
        "threads": [list(vars(part).values()) for part in PARTS],
    }
    return recorded("mutex", process=1, words=[word], recorded_ns=1_000_000_000)


def test_verdicts() -> None:
    often = {"wakes": 40_000, "ones": 40_000, "taken": 40_000, "remote": 25_200}
    said = answer.verdict(only(**often), TRY)
    assert said == (
        "One lock is contended: somewhere (0x1000) has 40,000 hand-offs a second, its 2 threads "
        "wait for it 10 % of their time, and 63 % of hand-offs go to another CPU. Worth a try, "
        f"25,200 a second go to another CPU: `{TRY}`"
    )
    assert "nearly all of them stay" in answer.verdict(only(**{**often, "remote": 3}), TRY)
    assert "only at calls that wake one" in answer.verdict(only(**{**often, "ones": 0}), TRY)
    assert "too few" in answer.verdict(only(), TRY)
    assert answer.verdict(recorded("mutex", words=[]), TRY) == (
        "No contended lock: no thread woke another one by a futex call."
    )


def test_a_few_waits_are_chance() -> None:
    assert answer.contended_locks(only(wakes=4)) == []
    assert answer.contended_locks(only(wakes=5)) != []
    assert answer.contended_locks(only(wakes=4, found_taken=2000, probe=0)) != []


def test_several_locks() -> None:
    words = document("mutex")["words"]
    look = recorded("mutex", words=[*words, *({**word, "address": 64} for word in words)])
    assert answer.verdict(look, TRY).startswith("2 locks are contended, most: ")


def test_names() -> None:
    maps = "1000-2000 rw-p 00000000 00:00 0 [heap]\n"
    word = {**asdict(WORD), "threads": [[1, 5, 5, 9, 10], [2, 5, 5, 9, 10]]}
    here = look_of(document("mutex", maps=maps, words=[word], process=1), PROGRAM, [])
    assert here.waits[0].name == "heap"
    there = look_of(document("mutex", maps=maps, words=[word], process=2), PROGRAM, [])
    assert there.waits[0].name == "in process 1"


def test_remarks() -> None:
    look = replace(recorded("mutex"), lost=7, ended="ended with status 3")
    said = "\n".join(answer.remarks(look))
    assert "the program ended with status 3" in said
    assert "7 events came after a buffer was full" in said
    assert "not seen: locks that spin" in said


PARKING = "_ZN11parking_lot9raw_mutex8RawMutex9lock_slow17h0123456789abcdefE"


@pytest.fixture
def parking(tmp_path: Path) -> Path:
    """A program that has the function, and another whose name begins so."""
    source = (
        f"void {PARKING}(void) {{}}\nvoid {PARKING}_(void) {{}}\nint main(void) {{ return 0; }}\n"
    )
    path = tmp_path / "bin/parking"
    path.parent.mkdir()
    words = ["gcc", "-x", "c", "-o", str(path), "-"]
    subprocess.run(words, input=source, text=True, check=True)
    return path


def test_probes(parking: Path, tmp_path: Path) -> None:
    (probe,) = probes_of([parking])
    answer = subprocess.run(["nm", parking], capture_output=True, text=True, check=True)
    address = next(line.split()[0] for line in answer.stdout.splitlines() if line.endswith(PARKING))
    # It is position-independent, and its code lies in the file where it lies in memory.
    assert probe.word == f"each:%di:{int(address, 16):#x}:{parking}"
    subprocess.run(["strip", parking], check=True)
    assert probes_of([parking]) == []
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    assert probes_of([script, tmp_path / "none"]) == []


def test_java_has_its_machine_beside_it(parking: Path, tmp_path: Path) -> None:
    assert files_of(parking) == [parking]
    libjvm = tmp_path / "lib/server/libjvm.so"
    libjvm.parent.mkdir(parents=True)
    libjvm.touch()
    assert files_of(parking) == [parking, libjvm]


@pytest.fixture
def fast_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Instead of fast-look: writes down its words, and that a mutex was contended."""
    program = tmp_path / "user" / record.FAST_LOOK
    program.parent.mkdir(parents=True)
    program.write_text(
        '#!/bin/sh\necho "$@" > words\ntest ! -e fails || exit 125\n'
        f'cp {LOOKS}/mutex.json "$2"\ntest ! -e three || exit 3\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(record, "work_dir", lambda project: tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "words"


def test_the_command(fast_look: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main.main(["look", "--json", "x.json", "--", "true", "two words"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("One lock ")
    assert "What threads wait for" in said
    assert fast_look.read_text().endswith("-- true two words\n")
    written = json.loads((tmp_path / "x.json").read_text())
    assert said.startswith(written["verdict"])
    assert written["contended"][0]["what"] == "lock"


def test_a_program_that_fails_has_an_answer(
    fast_look: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "three").touch()
    assert main.main(["look", "--", "false"]) == 0
    assert "the program ended with status 3" in capsys.readouterr().out


def test_a_process(fast_look: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["look", "--pid", str(os.getpid())]) == 0
    assert f"--pid {os.getpid()} " in fast_look.read_text()
    assert fast_look.read_text().endswith("-- sleep 5\n")
    assert main.main(["look", "--pid", str(os.getpid()), "--", "sleep", "9"]) == 0
    assert fast_look.read_text().endswith("-- sleep 9\n")


def test_what_it_takes_is_said(
    fast_look: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fails").touch()

    def asked(argv: Sequence[str], pid: int | None = None) -> None:
        record.look(LookRequest(argv, pid), Heard())

    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(FastError, match=r"fast-look has said why, above\. Trace events take root"):
        asked(["true"])
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(FastError, match=r"fast-look has said why, above$"):
        asked(["true"])
    with pytest.raises(FastError, match="process 4194304: there is none"):
        asked([], 4194304)


def test_a_process_that_cannot_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FastError, match="process 7: there is none; `ps` has their ids"):
        record._process(tmp_path / "7")
    thread = tmp_path / "2"
    thread.mkdir()
    (thread / "maps").touch()
    with pytest.raises(FastError, match="process 2: it has no program, as threads of the kernel"):
        record._process(thread)

    def refuse(path: Path) -> bytes:
        raise PermissionError

    monkeypatch.setattr(Path, "read_bytes", refuse)
    for user, why in ((0, "not permitted"), (1000, "it takes root to look at another user's")):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        with pytest.raises(FastError, match=f"process 2: {why}"):
            record._process(thread)
