# SPDX-License-Identifier: GPL-2.0
"""The environment of a run: read from a made-up /proc and /sys, and what is doubted in it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import paired
import pytest

from fastlab.base.model import FastError
from fastlab.plan.circumstances import (
    Activity,
    Circumstances,
    Environment,
    IdleState,
    from_record,
    list_cpus,
    listed_cpus,
)
from fastlab.statistics.environment import activity, capture, doubts

CPU = "sys/devices/system/cpu"
INTEL = {
    "proc/sys/kernel/osrelease": "6.12.30-fast\n",
    "proc/cmdline": "BOOT_IMAGE=/vmlinuz quiet\n",
    "proc/cpuinfo": "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\nmicrocode\t: 0x2b\n"
    "flags\t\t: fpu vme\n\nprocessor\t: 1\nmodel name\t: another\n",
    "proc/stat": "cpu  10 1 20 300 4 5 6 7 8 9\ncpu0 1 2 3\n",
    "proc/loadavg": "0.52 0.40 0.30 3/512 4242\n",
    "proc/sys/kernel/numa_balancing": "1\n",
    f"{CPU}/online": "0-1,4\n",
    f"{CPU}/smt/control": "on\n",
    f"{CPU}/intel_pstate/no_turbo": "0\n",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/cpu1/cpufreq/scaling_governor": "powersave\n",
    f"{CPU}/cpu0/cpuidle/state0/name": "POLL\n",
    f"{CPU}/cpu0/cpuidle/state0/latency": "0\n",
    f"{CPU}/cpu0/cpuidle/state0/disable": "0\n",
    f"{CPU}/cpu0/cpuidle/state1/name": "C6\n",
    f"{CPU}/cpu0/cpuidle/state1/latency": "133\n",
    f"{CPU}/cpu0/cpuidle/state1/disable": "0\n",
    f"{CPU}/cpu0/cpuidle/state2/name": "C10\n",
    f"{CPU}/cpu0/cpuidle/state2/latency": "890\n",
    f"{CPU}/cpu0/cpuidle/state2/disable": "1\n",
    f"{CPU}/cpu0/thermal_throttle/core_throttle_count": "2\n",
    f"{CPU}/cpu1/thermal_throttle/core_throttle_count": "3\n",
    f"{CPU}/vulnerabilities/meltdown": "Mitigation: PTI\n",
    "sys/devices/system/node/online": "0-1\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
    "sys/class/dmi/id/sys_vendor": "Some Vendor\n",
}


def machine(tmp_path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def said(**changes: Any) -> list[str]:
    """The doubts about one run on a quiet machine, but for `changes` of its environment."""
    environment = replace(paired.QUIET, **changes)
    return doubts([Circumstances(environment, paired.IDLE, replace(paired.IDLE, ticks=2000))])


def run(before: dict[str, Any], after: dict[str, Any]) -> Circumstances:
    ended = {"ticks": 2000, **after}
    return Circumstances(
        paired.QUIET, replace(paired.IDLE, **before), replace(paired.IDLE, **ended)
    )


def test_capture(tmp_path: Path) -> None:
    assert capture(machine(tmp_path, INTEL)) == Environment(
        kernel="6.12.30-fast",
        command_line="BOOT_IMAGE=/vmlinuz quiet",
        cpu="Some CPU @ 2.0GHz",
        cpus=3,
        microcode="0x2b",
        governors=("performance", "powersave"),
        turbo=True,
        smt="on",
        idle_states=(IdleState("POLL", 0), IdleState("C6", 133)),
        numa_nodes=2,
        numa_balancing=True,
        huge_pages="always",
        mitigations={"meltdown": "Mitigation: PTI"},
        virtual=False,
        vendor="Some Vendor",
    )
    assert activity(tmp_path) == Activity(
        ticks=10 + 1 + 20 + 300 + 4 + 5 + 6 + 7, steal=7, load=0.52, others=2, throttled=5
    )


def test_amd_boost_and_a_hypervisor(tmp_path: Path) -> None:
    changes = {
        f"{CPU}/intel_pstate/no_turbo": "",
        f"{CPU}/cpufreq/boost": "0\n",
        "proc/cpuinfo": "flags\t\t: fpu hypervisor\n",
    }
    environment = capture(machine(tmp_path, INTEL | changes))
    assert environment.turbo is False
    assert environment.virtual is True
    assert environment.cpu is None


def test_arm(tmp_path: Path) -> None:
    cpuinfo = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
    root = machine(tmp_path, {"proc/cpuinfo": cpuinfo, f"{CPU}/online": "0\n"})
    assert capture(root).cpu == "implementer 0x41 part 0xd0c"
    assert capture(root).virtual is None
    machine(tmp_path, {"proc/device-tree/hypervisor/compatible": "linux,kvm\0"})
    assert capture(root).virtual is True


def test_what_is_not_there_is_not_available(tmp_path: Path) -> None:
    nothing = capture(tmp_path)
    assert nothing.turbo is nothing.smt is nothing.governors is nothing.idle_states is None
    assert nothing.numa_nodes is nothing.huge_pages is nothing.microcode is None
    (last,) = doubts([Circumstances(nothing, paired.IDLE, paired.IDLE)])
    assert last == (
        "Not available on this machine, so not checked: frequency governor, turbo, SMT, "
        "idle states, whether the machine is virtual."
    )
    with pytest.raises(FastError, match="is it mounted"):
        activity(tmp_path)


def test_this_machine_has_one() -> None:
    made = Circumstances(capture(), activity(), activity())
    assert made.environment.cpus > 0
    assert made.before.ticks > 0
    assert from_record(json.loads(json.dumps(asdict(made)))) == made


def test_nothing_to_doubt() -> None:
    assert said() == []
    assert doubts([]) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"virtual": True, "vendor": "QEMU"}, "The machine is virtual (QEMU)"),
        ({"governors": ("performance", "schedutil")}, "governor is schedutil"),
        ({"governors": None}, "so not checked: frequency governor."),
        ({"turbo": True}, "Turbo is on"),
        ({"smt": "on"}, "SMT is on"),
        ({"idle_states": (IdleState("C6", 133),)}, "C6 (133 us)"),
        ({"numa_nodes": 2, "numa_balancing": True}, "NUMA balancing is on"),
        ({"huge_pages": "always"}, "Transparent huge pages"),
        ({"command_line": "ro mitigations=off"}, "Mitigations are off"),
    ],
)
def test_doubts_about_a_machine(changes: dict[str, Any], words: str) -> None:
    (sentence,) = said(**changes)
    assert words in sentence
    assert sentence.endswith(".")


@pytest.mark.parametrize(
    "changes",
    [
        {"numa_balancing": True},
        {"command_line": "mitigations=off,nosmt"},
        {"smt": "notsupported"},
        {"idle_states": ()},
    ],
)
def test_what_is_no_reason_for_doubt(changes: dict[str, Any]) -> None:
    assert said(**changes) == []


def test_each_doubt_is_said_once() -> None:
    virtual = Circumstances(replace(paired.QUIET, virtual=True), paired.IDLE, paired.IDLE)
    assert len(doubts([virtual, virtual])) == 1


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"load": 2.5}, {}, "Before the first run the load was 2.5 on 4 CPUs"),
        ({}, {"steal": 25}, "In 1 of 2 runs the hypervisor took CPU time away (up to 2.5% of"),
        ({"others": 1}, {}, "In 1 of 2 runs another task was running"),
        ({}, {"throttled": 1}, "In 1 of 2 runs heat slowed a core down"),
    ],
)
def test_doubts_about_a_run(before: dict[str, Any], after: dict[str, Any], words: str) -> None:
    (sentence,) = doubts([run(before, after), run({}, {})])
    assert words in sentence


def test_a_load_is_much_for_the_cpus_that_are_measured() -> None:
    large = run({"load": 6.0}, {})
    some = replace(paired.QUIET, cpus=64, cpu_list="2-4,9")
    (sentence,) = doubts([replace(large, environment=some)])
    assert "the load was 6 on 64 CPUs, of which 4 are measured: other" in sentence
    assert doubts([replace(large, environment=replace(some, cpu_list="0-63"))]) == []


def test_ticks_are_those_of_the_cpus_that_are_measured(tmp_path: Path) -> None:
    stat = "cpu  9 9 9 9 9 9 9 9 0 0\n" + "".join(
        f"cpu{number} 1 0 0 8 0 0 0 {number} 0 0\n" for number in range(12)
    )
    root = machine(tmp_path, INTEL | {"proc/stat": f"{stat}intr 7 7\n"})
    assert (activity(root).ticks, activity(root).steal) == (72, 9)
    some = activity(root, "1,10-11")
    assert (some.ticks, some.steal) == (3 * 9 + 1 + 10 + 11, 1 + 10 + 11)


@pytest.mark.parametrize("text", ["0", "0-3", "0-3,8", "1,3,5-6,120-127"])
def test_lists_of_cpus_are_those_of_the_kernel(text: str) -> None:
    assert list_cpus(listed_cpus(text)) == text


def test_circumstances_of_before_cpus_were_kept_have_all_of_them() -> None:
    before = json.loads(json.dumps(paired.CIRCUMSTANCES))
    before["environment"].pop("cpu_list", None)
    assert from_record(before).environment.own_cpus == paired.QUIET.cpus


def test_a_load_that_the_experiment_itself_makes() -> None:
    assert doubts([run({}, {}), run({"load": 4.0}, {})]) == []


def test_what_is_usual_is_no_reason_to_doubt_a_run() -> None:
    # On four CPUs; and what heat did earlier.
    assert doubts([run({"load": 0.4}, {})]) == []
    assert doubts([run({"throttled": 3}, {"throttled": 3})]) == []


def test_a_change_between_runs() -> None:
    assert told({}, {"governors": ("powersave",)}) == [
        "The frequency governor is powersave: the clock follows the load, and a variant that "
        "gathers threads changes the clock too. Set it to performance.",
        "The environment changed between runs: governors was performance and powersave.",
    ]


def told(*changes: dict[str, Any]) -> list[str]:
    """The doubts about a run on each of the machines that are the quiet one, but for this."""
    environments = [replace(paired.QUIET, **one) for one in changes]
    return doubts([Circumstances(one, paired.IDLE, paired.IDLE) for one in environments])


def test_a_change_between_runs_of_one_kernel() -> None:
    safe = {"meltdown": "Mitigation: PTI", "l1tf": "Not affected"}
    open_to_it = {**safe, "meltdown": "Vulnerable"}
    first = {"command_line": "BOOT_IMAGE=/a root=/dev/sda1 quiet", "mitigations": safe}
    again = {"command_line": "root=/dev/sdb1 quiet nopti", "mitigations": open_to_it}
    assert told(first, again, first) == [
        "The environment changed between runs: command line had nothing else, then nopti.",
        "The environment changed between runs: mitigations had meltdown: Mitigation: PTI, "
        "then meltdown: Vulnerable.",
    ]


def test_two_kernels_that_differ_in_their_image_only() -> None:
    unpatched = "BOOT_IMAGE=/vmlinuz-6.12.30 root=UUID=1 ro initrd=/a.img quiet"
    patched = "BOOT_IMAGE=/vmlinuz-6.12.30-fast root=UUID=2 ro initrd=/b.img quiet"
    one = {"kernel": "6.12.30", "command_line": unpatched}
    other = {"kernel": "6.12.30-fast", "command_line": patched}
    assert told(one, other, one, other) == []


@pytest.mark.parametrize(
    ("unpatched", "patched", "words"),
    [
        (
            {"command_line": "root=/dev/sda1 quiet"},
            {"command_line": "root=/dev/sda1 quiet nosmt idle=poll"},
            ", in the command line: 6.12.30 has nothing else, 6.12.30-fast has nosmt, idle=poll.",
        ),
        (
            {"mitigations": {"meltdown": "Mitigation: PTI", "l1tf": "Not affected"}},
            {"mitigations": {"meltdown": "Vulnerable", "l1tf": "Not affected"}},
            ", in the mitigations: 6.12.30 has meltdown: Mitigation: PTI, 6.12.30-fast has "
            "meltdown: Vulnerable.",
        ),
        ({"kernel": "6.12.29"}, {}, ": 6.12.29 and 6.12.30-fast are of different releases."),
        ({"kernel": "6.12"}, {}, ": 6.12 and 6.12.30-fast are of different releases."),
    ],
)
def test_two_kernels_that_differ_in_more_than_fast(
    unpatched: dict[str, Any], patched: dict[str, Any], words: str
) -> None:
    both = {"kernel": "6.12.30", **unpatched}, {"kernel": "6.12.30-fast", **patched}
    assert told(*both, *both) == [f"The kernels differ in more than FAST{words}"]
