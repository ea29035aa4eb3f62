# SPDX-License-Identifier: GPL-2.0
"""Programs whose tasks are known (watched.c): what Perfetto is told of them, and intervals-view."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos  # type: ignore[import-untyped]

PROJECT = Path(__file__).parents[3]
EVENT = protos.TrackEvent


@dataclass(frozen=True)
class Slice:
    name: str
    track: str
    begin: int
    end: int
    depth: int
    facts: dict[str, int]


@dataclass
class Trace:
    """All slices of a file; each track's begin and end in pairs."""

    tracks: dict[int, Any] = field(default_factory=dict)
    slices: list[Slice] = field(default_factory=list)
    instants: list[tuple[str, str]] = field(default_factory=list)
    flows: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    unended: int = 0

    def title(self, uuid: int) -> str:
        track = self.tracks[uuid]
        return str(track.name or track.thread.thread_name or track.process.process_name)

    def of(self, name: str) -> list[Slice]:
        return [one for one in self.slices if one.name == name]

    def tasks(self, name: str) -> int:
        """Tasks, not slices: a task that waits has several slices."""
        return len({one.facts["task"] for one in self.of(name)})


def read(path: Path) -> Trace:
    trace = Trace()
    packets = protos.Trace.FromString(path.read_bytes()).packet
    for packet in packets:
        assert packet.trusted_packet_sequence_id
        if packet.HasField("track_descriptor"):
            trace.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
    stacks: dict[int, list[Any]] = defaultdict(list)
    events = [one for one in packets if one.HasField("track_event")]
    # As trace_processor sorts: what is at the same time keeps its order.
    for packet in sorted(events, key=lambda one: one.timestamp):
        event = packet.track_event
        title = trace.title(event.track_uuid)
        for flow in (*event.flow_ids, *event.terminating_flow_ids):
            trace.flows[flow].append(title)
        if event.type == EVENT.TYPE_SLICE_BEGIN:
            stacks[event.track_uuid].append(packet)
        elif event.type == EVENT.TYPE_INSTANT:
            trace.instants.append((event.name, title))
        else:
            begun = stacks[event.track_uuid].pop()
            depth = len(stacks[event.track_uuid])
            facts = {one.name: one.uint_value for one in begun.track_event.debug_annotations}
            name = begun.track_event.name
            trace.slices.append(Slice(name, title, begun.timestamp, packet.timestamp, depth, facts))
    trace.unended = sum(map(len, stacks.values()))
    return trace


def program() -> Path:
    path = PROJECT / "build/user/subprojects/intervals/tests/intervals-watched"
    if not path.exists():
        pytest.skip(f"{path} is not there: `make` builds it")
    return path


def execute(
    words: list[str], environment: dict[str, str], before: Any = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program(), *words], env=environment, capture_output=True, text=True, preexec_fn=before
    )


def traced(path: Path, *words: str, workers: int = 1, **further: str) -> Trace:
    """What a program that ends well and says nothing has left."""
    file = path / "it.pftrace"
    environment = {"INTERVALS_TRACE": str(file), "INTERVALS_WORKERS": str(workers), **further}
    done = execute(list(words), environment)
    assert (done.returncode, done.stderr) == (0, "")
    return read(file)


def spawned(n: int) -> int:
    """Children of fib(n)."""
    return 0 if n < 2 else 1 + spawned(n - 1) + spawned(n - 2)


@pytest.mark.parametrize("policy", ["adaptive", "work-first", "help-first"])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_each_task_is_there_once(tmp_path: Path, policy: str, workers: int) -> None:
    trace = traced(tmp_path, "fib", "12", workers=workers, INTERVALS_POLICY=policy)
    assert trace.tasks("fib") == spawned(12)
    assert trace.tasks("run_fib") == 1
    assert trace.unended == 0
    threads = [trace.title(uuid) for uuid, one in trace.tracks.items() if one.thread.tid]
    # A worker whose thread begins after the work is done ends at once.
    assert threads
    assert len({*threads}) == len(threads)
    assert {*threads} <= {f"worker {i} (numa-0)" for i in range(workers)}


def test_children_are_inside_of_who_syncs(tmp_path: Path) -> None:
    trace = traced(tmp_path, "fib", "5")
    (run,) = trace.of("run_fib")
    children = trace.of("fib")
    assert len(children) == spawned(5)
    assert all(run.begin <= one.begin <= one.end <= run.end for one in children)
    # In fib(5), which the body calls: fib(4), and fib(2) of the called fib(3), which has fib(1). In
    # fib(4): fib(3), and fib(1) of the called fib(2); in fib(3) fib(2), and in that fib(1).
    assert Counter(one.depth for one in children) == {1: 2, 2: 3, 3: 1, 4: 1}


@pytest.mark.parametrize("policy", ["adaptive", "work-first", "help-first"])
def test_asyncs(tmp_path: Path, policy: str) -> None:
    trace = traced(tmp_path, "tree", "6", workers=2, INTERVALS_POLICY=policy)
    # All but the first, which the finish calls.
    assert trace.tasks("tree") == 2**6 - 2
    assert trace.unended == 0


def test_steals(tmp_path: Path) -> None:
    trace = traced(tmp_path, "steal", "3", workers=2)
    assert trace.tasks("set") == 3
    # No child is on the line of the task that waits for it.
    for child in trace.of("set"):
        beside = [one for one in trace.of("run_steal") if one.track == child.track]
        assert all(one.end <= child.begin or one.begin >= child.end for one in beside)
    names = Counter(name for name, _ in trace.instants)
    assert names["steal"] == names["stolen"] >= 3
    assert len(trace.flows) == names["steal"]
    assert all(victim != thief for victim, thief in trace.flows.values())


def test_sleep(tmp_path: Path) -> None:
    trace = traced(tmp_path, "sleep", "1", workers=2, INTERVALS_STATISTICS="on")
    asleep = trace.of("asleep")
    assert asleep
    assert {one.depth for one in asleep} == {0}
    # A sleeping worker runs nothing.
    for one in asleep:
        beside = [each for each in trace.slices if each.track == one.track and each != one]
        assert all(each.end <= one.begin or each.begin >= one.end for each in beside)


def test_guards(tmp_path: Path) -> None:
    trace = traced(tmp_path, "guards", "3")
    held = [one for one in trace.slices if one.track == "guard lock"]
    assert [one.name for one in held] == ["holder 0", "holder 1", "holder 2"]
    assert all(one.end <= two.begin for one, two in pairwise(held))
    waited = [one for one in trace.slices if one.track == "waiting"]
    assert [one.name for one in waited] == ["holder 1", "holder 2"]
    for wait, before in zip(waited, held, strict=False):
        assert wait.begin < before.end <= wait.end
    (lock,) = [uuid for uuid in trace.tracks if trace.title(uuid) == "guard lock"]
    parents = {one.parent_uuid for one in trace.tracks.values() if one.name == "waiting"}
    assert parents == {lock}


def test_who_waits_leaves_its_line(tmp_path: Path) -> None:
    trace = traced(tmp_path, "wait")
    first, second = trace.of("run_wait")
    (awaited,) = trace.of("awaited")
    assert first.facts == second.facts
    assert first.end <= awaited.begin <= awaited.end <= second.begin


def test_who_is_returned_to_is_there_again(tmp_path: Path) -> None:
    trace = traced(tmp_path, "way", INTERVALS_POLICY="work-first")
    first, *_, last = trace.of("give_way")
    # Its spawner is around it until it gives way, and goes on when it has ended.
    around, again = trace.of("run_way")
    assert around.begin <= first.begin <= first.end <= around.end <= trace.of("come")[0].begin
    assert last.end <= again.begin
    assert {one.track for one in (around, again)} == {"worker 0 (numa-0)"}


def test_who_runs_here_has_a_line(tmp_path: Path) -> None:
    trace = traced(tmp_path, "here", "8")
    lines = {"ivl_run_here() (numa-0)", "worker 0 (numa-0)"}
    assert lines <= {trace.title(uuid) for uuid in trace.tracks}
    # The first of them to come.
    assert {one.track for one in trace.of("run_fib")} <= lines


def test_threads_of_openmp_have_lines(tmp_path: Path) -> None:
    """Once each, however many regions there are; the largest of this program has seven."""
    build = PROJECT / "build/user/subprojects/intervals/openmp"
    library, program = build / "libgomp.so.1", build / "tests/test-gomp-locks"
    if not program.exists():
        pytest.skip(f"{program} is not there: `make` builds it")
    file = tmp_path / "it.pftrace"
    environment = {
        "INTERVALS_TRACE": str(file),
        "LD_PRELOAD": str(library),
        "OMP_NUM_THREADS": "4",
    }
    subprocess.run([program], env=environment, check=True)
    packets = protos.Trace.FromString(file.read_bytes()).packet
    threads = [one.track_descriptor.thread for one in packets if one.HasField("track_descriptor")]
    assert [one.thread_name for one in threads if one.tid] == ["attached (machine)"] * 7
    trace = read(file)
    # Undeferred tasks are not in it; these many are queued at a region's beginning.
    assert trace.tasks("run") >= 8 + 8 * 4
    # When the program ends its first thread has left the last region; the rest may still leave.
    assert trace.unended <= 6


def test_a_program_that_does_not_stop_its_runtime(tmp_path: Path) -> None:
    assert traced(tmp_path, "exit", "8").tasks("fib") == spawned(8)


def test_fork(tmp_path: Path) -> None:
    # The child leaves the parent's file as it is, and has one of its own where it is asked to.
    assert traced(tmp_path, "fork").tasks("run_wait") == 1
    assert len(list(tmp_path.iterdir())) == 1
    environment = {"INTERVALS_TRACE": str(tmp_path / "%p.own"), "INTERVALS_WORKERS": "1"}
    assert execute(["fork"], environment).returncode == 0
    both = [read(path) for path in tmp_path.glob("*.own")]
    assert [one.tasks("run_wait") for one in both] == [1, 1]


def whole_packets(path: Path) -> bytes:
    """But for the last, which may be cut short."""
    trace, end = path.read_bytes(), 0
    while len(trace) - end > 3:
        # The packet's key, and a length of two bytes.
        assert trace[end] == 0x0A
        after = end + 3 + (trace[end + 1] & 0x7F | trace[end + 2] << 7)
        if after > len(trace):
            break
        end = after
    return trace[:end]


def test_a_program_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "it"
    environment = {"INTERVALS_TRACE": str(path), "INTERVALS_WORKERS": "1"}
    running = subprocess.Popen([program(), "fib", "40"], env=environment)
    while not path.exists() or path.stat().st_size < 200_000:
        assert running.poll() is None
    running.kill()
    running.wait()
    whole = whole_packets(path)
    assert len(whole) > path.stat().st_size - 1024
    path.write_bytes(whole)
    assert read(path).tasks("fib") > 100


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"INTERVALS_TRACE": "/no/such/file"}, "INTERVALS_TRACE=/no/such/file: No such file"),
        ({"INTERVALS_TRACE": "/"}, "INTERVALS_TRACE=/: Is a directory"),
        ({"INTERVALS_TRACE": "x" * 5000}, "File name too long"),
        ({"INTERVALS_TRACE": "it", "INTERVALS_TRACE_MB": "0"}, "INTERVALS_TRACE_MB=0: not a num"),
        ({"INTERVALS_TRACE": "it", "INTERVALS_TRACE_MB": "1k"}, "INTERVALS_TRACE_MB=1k: not a"),
    ],
)
def test_what_cannot_be_traced(variables: dict[str, str], said: str) -> None:
    done = execute(["fib", "3"], variables)
    assert done.returncode == 1
    assert said in done.stderr


def test_no_trace(tmp_path: Path) -> None:
    done = execute(["fib", "3"], {"INTERVALS_TRACE": ""})
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_a_full_disk() -> None:
    done = execute(["fib", "15"], {"INTERVALS_TRACE": "/dev/full", "INTERVALS_WORKERS": "1"})
    assert (done.returncode, done.stdout) == (0, "610\n")
    assert "trace /dev/full: " in done.stderr
    assert "events were dropped: No space left on device" in done.stderr


def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    path = tmp_path / "it"
    done = execute(["fib", "18"], {"INTERVALS_TRACE": str(path), "INTERVALS_WORKERS": "1"}, limit)
    assert done.returncode == 0
    assert "events were dropped: File too large" in done.stderr
    # What was there before is whole: a buffer, of 64 KiB at most.
    assert 50_000 < path.stat().st_size <= 65_536 + 1024
    assert read(path).tasks("fib") > 100


def test_more_than_it_may_have(tmp_path: Path) -> None:
    path = tmp_path / "it"
    done = execute(
        ["fib", "22"],
        {"INTERVALS_TRACE": str(path), "INTERVALS_TRACE_MB": "1", "INTERVALS_WORKERS": "1"},
    )
    assert done.returncode == 0
    assert "events were dropped: it has 1 MiB (INTERVALS_TRACE_MB)" in done.stderr
    assert 1 << 20 <= path.stat().st_size <= (1 << 20) + 65_536 + 1024
    trace = read(path)
    dropped = int(done.stderr.split(" events were dropped")[0].rsplit(" ", 1)[1])
    assert (f"{dropped} events were dropped", "intervals-watched") in trace.instants
    # Two of each task; other events are a handful.
    told = 2 * len(trace.slices) + trace.unended
    assert 0 <= told + dropped - 2 * (spawned(22) + 1) < 100


def viewer() -> Path:
    return program().parents[1] / "tools/intervals-view"


def view(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.environ["PATH"]
    environment = {"PATH": path, "INTERVALS_WORKERS": "1", **variables}
    return subprocess.run([viewer(), *words], env=environment, capture_output=True, text=True)


def test_work_and_span_in_tasks() -> None:
    done = view(str(program()), "fib", "10")
    assert (done.returncode, done.stdout) == (0, "55\n")
    title, heads, time, burdened, tasks, hint = done.stderr.strip().splitlines()
    assert title == "intervals-watched (intervals-view)"
    assert heads.split() == ["work", "span", "parallelism"]
    # The path: the body, and a child for each of 9 levels.
    assert tasks.split() == ["tasks", str(spawned(10) + 1), "10", f"{(spawned(10) + 1) / 10:.2f}"]
    work, span, parallelism = map(float, time.split()[2:])
    assert 0 < span <= work
    assert parallelism == pytest.approx(work / span, rel=0.01)
    # A different path may be the longer one, by up to what the machine did meanwhile.
    assert float(burdened.split()[3]) >= span + 0.005
    assert hint


def test_view_of_a_fork() -> None:
    # What the child does does not come after what its parent did.
    done = view(str(program()), "fork")
    tasks = [line.split() for line in done.stderr.splitlines() if line.startswith("tasks")]
    assert tasks == [["tasks", "2", "2", "1.00"]] * 2


def test_a_guard_that_is_the_bound() -> None:
    done = view(str(program()), "guards", "50")
    assert done.stderr.splitlines()[-2].split() == ["tasks", "51", "2", "25.50"]


def test_view_and_trace_together(tmp_path: Path) -> None:
    file = tmp_path / "it"
    done = view(str(program()), "fib", "10", INTERVALS_TRACE=str(file))
    assert "intervals-view" in done.stderr
    assert read(file).tasks("fib") == spawned(10)


def test_whose_status_it_is(tmp_path: Path) -> None:
    assert view(str(program()), "none").returncode == 1
    done = view("sh", "-c", "kill -TERM $$")
    assert done.returncode == 128 + signal.SIGTERM
    assert "has said nothing" in done.stderr
    # Its parent may ignore its children.
    ignoring = ["env", "--ignore-signal=CHLD", viewer(), "false"]
    assert subprocess.run(ignoring, capture_output=True).returncode == 1
    done = view("/no/such/program")
    assert done.returncode == 127
    assert done.stderr == "intervals-view: /no/such/program: No such file or directory\n"
    assert view().returncode == 2
    done = view(str(program()), "fib", "3", TMPDIR=str(tmp_path / "none"))
    assert done.returncode == 1
    assert "no temporary file: No such file" in done.stderr


def test_a_table_for_each_program_that_one_executes(tmp_path: Path) -> None:
    done = view("sh", "-c", f"{program()} fib 3; {program()} fib 4", TMPDIR=str(tmp_path))
    assert done.stderr.count("(intervals-view)") == 2
    assert not list(tmp_path.iterdir())
