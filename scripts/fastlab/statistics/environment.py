# SPDX-License-Identifier: GPL-2.0
"""The state of a real machine during a run, and what makes its numbers doubtful.

Everything is read below a root directory with the /proc and /sys of this machine or of a test.
Unknown values are None, "not available"; nothing is guessed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fastlab.base.model import FastError
from fastlab.plan.circumstances import (
    Activity,
    Circumstances,
    Environment,
    IdleState,
    listed_cpus,
)

# A hand-off takes a few microseconds: leaving a deeper idle state would dominate it.
SLOW_IDLE_US = 10
# A smaller share of stolen CPU time disappears in the noise.
STEAL_SHARE = 0.001
# Load per CPU before the first run that exceeds the housekeeping of the system.
IDLE_LOAD = 0.1

CPUS = "sys/devices/system/cpu"


def capture(root: Path = Path("/")) -> Environment:
    """Read the environment of the machine whose /proc and /sys are below `root`."""
    cpuinfo = _cpuinfo(_read(root / "proc/cpuinfo") or "")
    return Environment(
        kernel=_read(root / "proc/sys/kernel/osrelease"),
        command_line=_read(root / "proc/cmdline"),
        cpu=_cpu_name(cpuinfo),
        cpus=_count(_read(root / CPUS / "online")),
        microcode=cpuinfo.get("microcode"),
        governors=_each(root, "cpufreq/scaling_governor"),
        turbo=_turbo(root),
        smt=_read(root / CPUS / "smt/control"),
        idle_states=_idle_states(root),
        numa_nodes=_count(_read(root / "sys/devices/system/node/online")) or None,
        numa_balancing=_flag(_read(root / "proc/sys/kernel/numa_balancing")),
        huge_pages=_chosen(_read(root / "sys/kernel/mm/transparent_hugepage/enabled")),
        mitigations={
            path.name: _read(path) or ""
            for path in sorted((root / CPUS / "vulnerabilities").glob("*"))
        },
        virtual=_virtual(root, cpuinfo),
        vendor=_read(root / "sys/class/dmi/id/sys_vendor"),
    )


def host() -> dict[str, Any]:
    """The machine of a benchmark's results file, with the CPUs that the benchmark could use.

    Null: not available.
    """
    captured = capture()
    return {
        "machine": {"cpu": captured.cpu, "cpus": len(os.sched_getaffinity(0))},
        "kernel": captured.kernel,
    }


def activity(root: Path = Path("/"), cpu_list: str | None = None) -> Activity:
    """The machine's activity; ticks of these CPUs, or of all. Raises FastError without /proc."""
    stat, loadavg = _read(root / "proc/stat"), _read(root / "proc/loadavg")
    if not stat or not loadavg:
        raise FastError(f"{root / 'proc'}: stat and loadavg cannot be read; is it mounted?")
    # user nice system idle iowait irq softirq steal; guest time is part of user.
    wanted = {"cpu"} if cpu_list is None else {f"cpu{cpu}" for cpu in listed_cpus(cpu_list)}
    lines = [line.split() for line in stat.splitlines()]
    ticks = [[int(word) for word in words[1:9]] for words in lines if words[0] in wanted]
    load = loadavg.split()
    heat = [_read(path) for path in root.glob(f"{CPUS}/cpu[0-9]*/thermal_throttle/*_count")]
    return Activity(
        ticks=sum(map(sum, ticks)),
        steal=sum(cpu_ticks[7] for cpu_ticks in ticks),
        load=float(load[0]),
        others=max(int(load[3].split("/")[0]) - 1, 0),
        throttled=sum(int(text) for text in heat if text) if heat else None,
    )


def doubts(runs: Sequence[Circumstances]) -> list[str]:
    """What makes the numbers of these runs doubtful, in order: a sentence each.

    An empty list means that nothing was found.
    """
    if not runs:
        return []
    sentences = [sentence for run in runs for sentence in _static(run.environment)]
    return [*dict.fromkeys(sentences), *_changes(runs), *_kernels(runs), *_dynamic(runs)]


def _static(captured: Environment) -> list[str]:
    """Doubts about an environment by itself."""
    sentences = []
    if captured.virtual:
        host = f" ({captured.vendor})" if captured.vendor else ""
        sentences.append(
            f"The machine is virtual{host}: its host decides when its CPUs run, and their caches "
            "are shared with what cannot be seen from inside."
        )
    for governor in captured.governors or ():
        if governor != "performance":
            sentences.append(
                f"The frequency governor is {governor}: the clock follows the load, and a variant "
                "that gathers threads changes the clock too. Set it to performance."
            )
    if captured.turbo:
        sentences.append(
            "Turbo is on: the clock depends on heat and on how many cores are busy. Switch it off."
        )
    if captured.smt == "on":
        sentences.append(
            "SMT is on: threads of one core share its caches, so where a thread is put changes "
            "what another measures. Switch it off, or say so beside the numbers."
        )
    slow = [state for state in captured.idle_states or () if state.exit_us > SLOW_IDLE_US]
    if slow:
        states = ", ".join(f"{state.name} ({state.exit_us} us)" for state in slow)
        sentences.append(
            f"CPUs may enter idle states that take long to leave: {states}. Wake-up latency "
            "contains that, and a variant that keeps CPUs awake avoids it."
        )
    if (captured.numa_nodes or 1) > 1 and captured.numa_balancing:
        sentences.append(
            "Automatic NUMA balancing is on: it moves pages and threads by itself. "
            "Set kernel.numa_balancing to 0."
        )
    if captured.huge_pages == "always":
        sentences.append(
            "Transparent huge pages are set to always: whether a run gets them depends on how "
            "fragmented memory is. Set them to madvise or never."
        )
    if "mitigations=off" in (captured.command_line or "").split():
        sentences.append(
            "Mitigations are off (kernel command line): entering the kernel is cheaper than on "
            "most machines, and so is a futex call."
        )
    unknown = [
        name
        for name, value in (
            ("frequency governor", captured.governors),
            ("turbo", captured.turbo),
            ("SMT", captured.smt),
            ("idle states", captured.idle_states),
            ("whether the machine is virtual", captured.virtual),
        )
        if value is None
    ]
    if unknown:
        sentences.append(f"Not available on this machine, so not checked: {', '.join(unknown)}.")
    return sentences


# Words of the kernel command line that name the image, and differ between kernels.
_IMAGE = ("BOOT_IMAGE=", "root=", "initrd=")


def _command_line(captured: Environment) -> list[str]:
    return [word for word in (captured.command_line or "").split() if not word.startswith(_IMAGE)]


def _mitigations(captured: Environment) -> list[str]:
    return [f"{name}: {text}" for name, text in captured.mitigations.items()]


# Properties of a boot, which should be equal for two kernels.
_OF_KERNEL: Mapping[str, Callable[[Environment], list[str]]] = {
    "command line": _command_line,
    "mitigations": _mitigations,
}


def _by_kernel(runs: Sequence[Circumstances]) -> dict[str, list[Environment]]:
    by_kernel: dict[str, list[Environment]] = {}
    for run in runs:
        by_kernel.setdefault(run.environment.kernel or "?", []).append(run.environment)
    return by_kernel


def _apart(given: Iterable[Sequence[str]]) -> list[str]:
    """For each list the words that are not in all lists."""
    lists = list(given)
    common = set(lists[0]).intersection(*lists)
    return [
        ", ".join(word for word in own if word not in common) or "nothing else" for own in lists
    ]


def _changes(runs: Sequence[Circumstances]) -> list[str]:
    """What differed between runs, or between the runs of one kernel."""
    sentences = []
    for name, words in _OF_KERNEL.items():
        for own in _by_kernel(runs).values():
            values = list(dict.fromkeys(_apart(map(words, own))))
            if len(values) > 1:
                sentences.append(
                    f"The environment changed between runs: {name} had {', then '.join(values)}."
                )
    for name in Environment.__dataclass_fields__:
        values = list(dict.fromkeys(_words(getattr(run.environment, name)) for run in runs))
        if name not in ("kernel", "command_line", "mitigations") and len(values) > 1:
            sentences.append(
                f"The environment changed between runs: {name.replace('_', ' ')} was "
                f"{' and '.join(values)}."
            )
    return sentences


def _kernels(runs: Sequence[Circumstances]) -> list[str]:
    """Differences of two kernels besides FAST."""
    firsts = {kernel: own[0] for kernel, own in _by_kernel(runs).items()}
    differences = []
    releases = {re.split(r"[^\d.]", kernel, maxsplit=1)[0] for kernel in firsts}
    if len(releases) > 1:
        differences.append(f": {' and '.join(firsts)} are of different releases")
    for name, words in _OF_KERNEL.items():
        apart = _apart(map(words, firsts.values()))
        if len(set(apart)) > 1:
            told = [f"{kernel} has {own}" for kernel, own in zip(firsts, apart, strict=True)]
            differences.append(f", in the {name}: {', '.join(told)}")
    return [f"The kernels differ in more than FAST{difference}." for difference in differences]


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _dynamic(runs: Sequence[Circumstances]) -> list[str]:
    sentences = []
    first = runs[0]
    own, online = first.environment.own_cpus, first.environment.cpus
    if first.before.load > IDLE_LOAD * max(own, 1):
        measured = "" if own == online else f", of which {own} are measured"
        sentences.append(
            f"Before the first run the load was {first.before.load:g} on {online} CPUs{measured}: "
            "other programs were running."
        )

    def say(what: str, holds: Callable[[Circumstances], bool]) -> None:
        count = sum(map(holds, runs))
        if count:
            sentences.append(f"In {count} of {len(runs)} runs {what}.")

    worst = max(map(_steal_share, runs))
    say(
        f"the hypervisor took CPU time away (up to {worst:.1%} of a run)",
        lambda run: _steal_share(run) > STEAL_SHARE,
    )
    say("another task was running when the run began", lambda run: run.before.others > 0)
    say(
        "heat slowed a core down",
        lambda run: (run.after.throttled or 0) > (run.before.throttled or 0),
    )
    return sentences


def _steal_share(run: Circumstances) -> float:
    ticks = run.after.ticks - run.before.ticks
    return (run.after.steal - run.before.steal) / ticks if ticks > 0 else 0.0


def _read(path: Path) -> str | None:
    """A file of /proc or /sys without its last newline (or NUL); None if it cannot be read."""
    try:
        return path.read_text(errors="replace").strip().strip("\0") or None
    except OSError:
        return None


def _cpuinfo(text: str) -> dict[str, str]:
    """The first CPU's fields of /proc/cpuinfo."""
    fields = (line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in fields}


def _cpu_name(cpuinfo: Mapping[str, str]) -> str | None:
    if "model name" in cpuinfo:
        return cpuinfo["model name"]
    # ARM identifies designs by number.
    if "CPU part" in cpuinfo:
        return f"implementer {cpuinfo.get('CPU implementer')} part {cpuinfo['CPU part']}"
    return None


def _virtual(root: Path, cpuinfo: Mapping[str, str]) -> bool | None:
    if "flags" in cpuinfo:
        return "hypervisor" in cpuinfo["flags"].split()
    signs = ("sys/hypervisor/type", "proc/device-tree/hypervisor/compatible")
    if any((root / sign).exists() for sign in signs):
        return True
    return True if _read(root / "sys/class/dmi/id/sys_vendor") == "QEMU" else None


def _turbo(root: Path) -> bool | None:
    no_turbo = _flag(_read(root / CPUS / "intel_pstate/no_turbo"))
    if no_turbo is not None:
        return not no_turbo
    return _flag(_read(root / CPUS / "cpufreq/boost"))


def _idle_states(root: Path) -> tuple[IdleState, ...] | None:
    states: dict[str, IdleState] = {}
    directories = sorted(root.glob(f"{CPUS}/cpu[0-9]*/cpuidle/state[0-9]*"))
    for directory in directories:
        name = _read(directory / "name")
        if name and _read(directory / "disable") != "1":
            states[name] = IdleState(name, int(_read(directory / "latency") or 0))
    return tuple(states.values()) if directories else None


def _each(root: Path, name: str) -> tuple[str, ...] | None:
    """The values that a file of each CPU has, each once."""
    values = {_read(path) for path in root.glob(f"{CPUS}/cpu[0-9]*/{name}")}
    return tuple(sorted(value for value in values if value)) or None


def _flag(text: str | None) -> bool | None:
    return None if text is None else text != "0"


def _chosen(text: str | None) -> str | None:
    """The one in brackets of a sysfs file that lists all choices."""
    match = re.search(r"\[(\w+)\]", text or "")
    return match[1] if match else None


def _count(ranges: str | None) -> int:
    """How many numbers a list such as 0-3,8 has."""
    return len(listed_cpus(ranges)) if ranges else 0
