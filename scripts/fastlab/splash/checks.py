# SPDX-License-Identifier: GPL-2.0
"""Whether an original SPLASH-2 program's output is that of a right result.

Nothing here believes an exit status: an original Cholesky that cannot open its matrix ends with 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

# Bodies whose forces are summed up directly: the sum of each takes a pass over all bodies.
SAMPLE = 48


@dataclass(frozen=True)
class ProgramOutput:
    """The output of a run of this size. `report` has the lines of the macros (parmacs.h)."""

    output: str
    report: Sequence[str]
    size: str


@dataclass(frozen=True)
class Judgement:
    """`values` must be the same at every thread count, up to the program's tolerance."""

    right: bool
    detail: str
    values: Mapping[str, float] = field(default_factory=dict)


Judge = Callable[[ProgramOutput], Judgement]


def verdict_word(passed: str, *failed: str) -> Judge:
    """A judge of a program that checks itself and prints a line that begins with `passed`."""

    def judge(run: ProgramOutput) -> Judgement:
        lines = [line.strip() for line in run.output.splitlines()]
        for line in lines:
            if line.startswith(failed):
                return Judgement(False, line)
        right = any(line.startswith(passed) for line in lines)
        return Judgement(right, passed if right else f'it never said "{passed}"')

    return judge


def cholesky(run: ProgramOutput) -> Judgement:
    """The program's own test, and its number of operations, which no thread count changes."""
    judged = verdict_word("PASSED", "Max error is")(run)
    match = re.search(r"^(\d+) operations for factorization", run.output, re.MULTILINE)
    if not judged.right or not match:
        return Judgement(False, judged.detail if match else "it never said its operations")
    return Judgement(True, judged.detail, {"operations": float(match[1])})


# Step, kinetic energy, three potential energies; total energy, temperature, pressure.
_WATER_STEP = re.compile(r"^\s*\d+((?:\s+\S+){4})\s*\n((?:\s+\S+){3})\s*$", re.MULTILINE)


def water(run: ProgramOutput) -> Judgement:
    """Its energies and the pressure, which depends on all forces.

    The temperature is said, not judged: in Splash-3's Water-spatial it is wrong
    (Documentation/splash2-original.rst).
    """
    match = re.search(r"^Exited Happily with XTT = (\S+)", run.output, re.MULTILINE)
    if not match:
        return Judgement(False, 'it never said "Exited Happily"')
    energy = _number(match[1])
    # With velocities that were never set it is some 1e33.
    if not abs(energy) < 1e12:
        return Judgement(False, f"its total energy is {match[1]}")
    steps = _WATER_STEP.findall(run.output)
    if not steps:
        return Judgement(False, "it never printed a step's energies")
    *_, potential = map(_number, steps[-1][0].split())
    _, temperature, pressure = map(_number, steps[-1][1].split())
    detail = f"XTT {match[1]}, pressure {pressure:.5g}; not judged: {temperature:.0f} K"
    values = {"XTT": energy, "potential energy": potential, "pressure": pressure}
    return Judgement(all(map(math.isfinite, values.values())), detail, values)


def barnes(softening: float, step: float, bound: float) -> Judge:
    """Each body has a force: the sum over all bodies where they were before the last step.

    `bound` is for the root mean square of the differences, relative to that of the sums.
    """

    def judge(run: ProgramOutput) -> Judgement:
        bodies = list(_reported(run, "body", 10))
        if len(bodies) != int(run.size):
            return Judgement(False, f"it reported {len(bodies)} bodies, not {run.size}")
        # Splash-3's gives some to no thread, from 16 threads on.
        idle = sum(not any(body[7:]) for body in bodies)
        if idle:
            return Judgement(False, f"{idle} of {len(bodies)} bodies never had a force")
        masses = [body[0] for body in bodies]
        places = [
            tuple(_before(body[1 + k], body[4 + k], body[7 + k], step) for k in range(3))
            for body in bodies
        ]
        errors = norms = 0.0
        for i in _sample(len(bodies)):
            x, y, z = places[i]
            ax = ay = az = 0.0
            for mass, (bx, by, bz) in zip(masses, places, strict=True):
                dx, dy, dz = bx - x, by - y, bz - z
                square = dx * dx + dy * dy + dz * dz + softening * softening
                pull = mass / (square * math.sqrt(square))
                ax, ay, az = ax + pull * dx, ay + pull * dy, az + pull * dz
            norms += ax * ax + ay * ay + az * az
            errors += sum((a - b) ** 2 for a, b in zip((ax, ay, az), bodies[i][7:], strict=True))
        error = math.sqrt(errors / norms) if norms else math.inf
        detail = f"forces {error:.1e} from direct sums, {bound:.0e} allowed"
        # Written so that nan is wrong.
        return Judgement(error <= bound, detail, {"mass": math.fsum(masses)})

    return judge


def fmm(step: float) -> Judge:
    """All particles are there, once, and are at the same places at every thread count.

    How far the forces are from direct sums is said, not judged: Splash-3's are wrong
    (Documentation/splash2-original.rst).
    """

    def judge(run: ProgramOutput) -> Judgement:
        rows = sorted(_reported(run, "particle", 9))
        if len(rows) != int(run.size):
            return Judgement(False, f"it reported {len(rows)} particles, not {run.size}")
        if [row[0] for row in rows] != list(range(len(rows))):
            return Judgement(False, "a particle is missing, or there twice")
        values = {
            "sum of the squared distances": math.fsum(row[3] ** 2 + row[4] ** 2 for row in rows),
            # A second sum, which also depends on the particles' order.
            "sum of number times place": math.fsum(row[0] * row[3] for row in rows),
        }
        error = f"{_fmm_error(rows, step):.0e}"
        detail = f"all {len(rows)} particles; not judged: forces {error} from direct sums"
        return Judgement(all(map(math.isfinite, values.values())), detail, values)

    return judge


def _fmm_error(rows: Sequence[Sequence[float]], step: float) -> float:
    """As in barnes(), in two dimensions; equal charges attract each other with q / distance."""
    places = [
        complex(*(_before(row[3 + k], row[5 + k], row[7 + k], step) for k in range(2)))
        for row in rows
    ]
    errors = norms = 0.0
    for i in _sample(len(rows)):
        pulls = (
            row[2] / (place - places[i]).conjugate()
            for row, place in zip(rows, places, strict=True)
            if place != places[i]
        )
        force = rows[i][1] * sum(pulls)
        norms += abs(force) ** 2
        errors += abs(force - complex(rows[i][7], rows[i][8])) ** 2
    return math.sqrt(errors / norms) if norms else math.inf


def differences(
    values: Mapping[str, float], reference: Mapping[str, float], tolerance: float
) -> list[str]:
    """What differs by more than the relative tolerance, in words."""
    return [
        f"{name} is {values.get(name)}, {expected} is right"
        for name, expected in reference.items()
        if not math.isclose(values.get(name, math.nan), expected, rel_tol=tolerance)
    ]


def _before(place: float, velocity: float, acceleration: float, step: float) -> float:
    """Where a leapfrog step that ended here began."""
    return place - step * (velocity - acceleration * step / 2)


def _sample(count: int) -> list[int]:
    return sorted({i * count // SAMPLE for i in range(SAMPLE)})


def _reported(run: ProgramOutput, kind: str, numbers: int) -> Iterator[list[float]]:
    """A line with fewer words, or more, has no numbers: it is there, and wrong."""
    for line in run.report:
        words = line.split()
        if words[:1] == [kind]:
            numbers_found = map(_number, words[1:])
            yield [*numbers_found] if len(words) == numbers + 1 else [math.nan] * numbers


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return math.nan
