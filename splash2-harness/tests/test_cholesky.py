#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Cholesky of matrices in files: what they hold, and what is wrong with them."""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHOLESKY = {Path(p).name: p for p in sys.argv[1:]}["cholesky"]

# A refused run frees nothing, which a leak checker must not take for an error.
REFUSED = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}

Matrix = list[list[float]]


def random_matrix(n: int, density: float, seed: int) -> Matrix:
    """Symmetric and diagonally dominant, so positive definite."""
    rng = random.Random(seed)
    a = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            if rng.random() < density:
                a[i][j] = a[j][i] = rng.uniform(-1, 1)
    for i in range(n):
        a[i][i] = 1 + sum(abs(x) for x in a[i])
    return a


def log_determinant(a: Matrix) -> float:
    """By the textbook's Cholesky factorisation of a dense matrix."""
    n = len(a)
    low = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            rest = a[i][j] - math.fsum(low[i][k] * low[j][k] for k in range(j))
            low[i][j] = math.sqrt(rest) if i == j else rest / low[j][j]
    return 2 * math.fsum(math.log(low[i][i]) for i in range(n))


def columns(numbers: list[str], per_line: int, width: int) -> list[str]:
    """Fixed-width Fortran fields, right-justified."""
    return [
        "".join(number.rjust(width) for number in numbers[i : i + per_line])
        for i in range(0, len(numbers), per_line)
    ]


def boeing(
    a: Matrix,
    kind: str = "RSA",
    formats: tuple[str, str, str] = ("(16I5)", "(10I8)", "(3E26.18)"),
    layout: tuple[tuple[int, int], tuple[int, int], tuple[int, int]] = ((16, 5), (10, 8), (3, 26)),
    number: str = "{:.17E}",
    right_hand_sides: bool = False,
    diagonal: bool = True,
) -> str:
    n = len(a)
    lower = [
        [(i, a[i][j]) for i in range(j, n) if (i == j and diagonal) or (i > j and a[i][j])]
        for j in range(n)
    ]
    starts = [1]
    for column in lower:
        starts.append(starts[-1] + len(column))
    pointers = columns([str(p) for p in starts], *layout[0])
    indices = columns([str(i + 1) for column in lower for i, _ in column], *layout[1])
    values = columns([number.format(x) for column in lower for _, x in column], *layout[2])
    if kind[0] in "Pp":
        values = []
    extra = 1 if right_hand_sides else 0
    total = len(pointers) + len(indices) + len(values) + extra
    counts = [total, len(pointers), len(indices), len(values), extra]
    lines = [
        "A matrix of the test".ljust(72) + "TEST",
        "".join(str(c).rjust(14) for c in counts),
        kind.ljust(14) + "".join(str(c).rjust(14) for c in (n, n, starts[-1] - 1, 0)),
        formats[0].ljust(16) + formats[1].ljust(16) + formats[2].ljust(20),
    ]
    if right_hand_sides:
        lines.append("F".ljust(14) + "1".rjust(14) + "0".rjust(14))
    return "\n".join(lines + pointers + indices + values) + "\n"


class Files(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = Path(self.folder.name) / "matrix"

    def run_on(
        self, text: str, *options: str, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        self.file.write_text(text)
        return subprocess.run(
            [CHOLESKY, "--json", f"--matrix={self.file}", *options],
            capture_output=True,
            text=True,
            timeout=60,
            env=env,
        )

    def assert_result(self, text: str, expected: float, *options: str) -> None:
        done = self.run_on(text, *options)
        self.assertEqual(done.returncode, 0, done)
        result = json.loads(done.stdout)
        self.assertEqual(result["check"], "ok")
        self.assertAlmostEqual(result["result"], expected, delta=1e-11 * max(1, abs(expected)))

    def assert_refused(self, text: str, line: int, message: str) -> None:
        done = self.run_on(text, env=REFUSED)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn(f"cholesky: {self.file}:{line}: ", done.stderr)
        self.assertIn(message, done.stderr)


class Read(Files):
    def test_orders_and_threads(self) -> None:
        for n, density in ((1, 0.0), (2, 1.0), (40, 0.0), (60, 0.05), (60, 0.2), (50, 1.0)):
            a = random_matrix(n, density, n)
            expected = log_determinant(a)
            for order in ("natural", "mindegree"):
                for threads, block in ((1, 32), (3, 4), (16, 1)):
                    with self.subTest(n=n, density=density, order=order, threads=threads):
                        self.assert_result(
                            boeing(a),
                            expected,
                            f"--order={order}",
                            f"--threads={threads}",
                            f"--block={block}",
                        )

    def test_fortran_formats(self) -> None:
        a = random_matrix(30, 0.1, 1)
        expected = log_determinant(a)
        layout = ((16, 5), (10, 8), (3, 26))
        for kind, letter, number in (
            ("RSA", "(3E26.18)", "{:.17E}"),
            ("rsa", "(1P,3E26.17)", "{:.17E}"),
            ("RSA", "(1P3E26.17E3)", "{:.17E}"),
            ("RSA", "(3D26.18)", "{:.17E}"),
            ("RSA", "(3F26.18)", "{:.18f}"),
        ):
            with self.subTest(letter):
                text = boeing(a, kind, ("(16I5)", "(10I8)", letter), layout, number)
                if "D" in letter:
                    head, tail = text.split(letter)
                    text = head + letter + tail.replace("E", "D")
                self.assert_result(text, expected)
        with self.subTest("fields without blanks between them"):
            tight = ((26, 3), (40, 2), (4, 20))
            formats = ("(26I3)", "(40I2)", "(4E20.13)")
            self.assert_result(
                boeing(random_matrix(9, 0.5, 3), "RSA", formats, tight, "{:.13E}"),
                log_determinant(random_matrix(9, 0.5, 3)),
            )
        with self.subTest("an exponent without letter, a point that is implied, carriage returns"):
            text = boeing([[4.0, 1.0], [1.0, 9.0]]).replace("(3E26.18)", "(3E26.2) ")
            values = "400".rjust(26) + "0.1+1".rjust(26) + "9.".rjust(26)
            lines = [*text.split("\n")[:-2], values]
            self.assert_result("\r\n".join(lines) + "\r\n", math.log(35))

    def test_integers(self) -> None:
        text = boeing(
            [[4.0, 1.0], [1.0, 9.0]],
            "ISA",
            ("(5I3)", "(5I3)", "(5I3)"),
            ((5, 3), (5, 3), (5, 3)),
            "{:.0f}",
        )
        self.assert_result(text, math.log(35))

    def test_pattern(self) -> None:
        a = random_matrix(40, 0.1, 2)
        for i, row in enumerate(a):
            for j in range(len(row)):
                row[j] = -1.0 if i != j and row[j] else 0.0
            row[i] = 1.0 - sum(row)
        for diagonal in (True, False):
            with self.subTest(diagonal=diagonal):
                text = boeing(a, "PSA", ("(16I5)", "(10I8)", ""), diagonal=diagonal)
                self.assert_result(text, log_determinant(a))

    def test_right_hand_sides_are_skipped(self) -> None:
        a = random_matrix(20, 0.2, 4)
        text = boeing(a, right_hand_sides=True) + "1.0 2.0 3.0\n"
        self.assert_result(text, log_determinant(a))

    def test_rows_in_any_order(self) -> None:
        lines = boeing([[4.0, 1.0], [1.0, 9.0]]).split("\n")
        lines[5] = "".join(s.rjust(8) for s in ("2", "1", "2"))
        lines[6] = "".join(s.rjust(26) for s in ("1.0", "4.0", "9.0"))
        self.assert_result("\n".join(lines), math.log(35))


class Refused(Files):
    def setUp(self) -> None:
        super().setUp()
        # Lines 1-4 header, 5 pointers, 6 and 7 indices, 8 to 13 values.
        self.good = boeing(random_matrix(6, 1.0, 1))
        self.lines = self.good.split("\n")[:-1]
        self.assertEqual(len(self.lines), 4 + 1 + 3 + 7)

    def damaged(self, line: int, old: str, new: str) -> str:
        lines = list(self.lines)
        self.assertIn(old, lines[line - 1])
        lines[line - 1] = lines[line - 1].replace(old, new, 1)
        return "\n".join(lines) + "\n"

    def test_truncated_after_each_line(self) -> None:
        for kept in range(len(self.lines)):
            with self.subTest(kept=kept):
                text = "\n".join(self.lines[:kept]) + "\n" if kept else ""
                # Where so little is left that the header's promise is seen to be wrong.
                line = 3 if 3 <= kept <= 4 and len(text) < 49 else kept + 1
                self.assert_refused(text, line, "truncated")

    def test_truncated_within_a_line(self) -> None:
        for length in range(0, len(self.good) - 1, 3):
            done = self.run_on(self.good[:length], env=REFUSED)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(f"cholesky: {self.file}:", done.stderr)

    def test_malformed(self) -> None:
        for line, old, new, message in (
            (2, "0", "x", "number of lines of right-hand sides"),
            (3, "RSA", "RUA", 'type "RUA"'),
            (3, "RSA", "RSE", 'type "RSE"'),
            (3, "RSA", "CSA", 'type "CSA"'),
            (3, "  6  ", "  5  ", "5 rows and 6 columns"),
            (3, " 6", " 0", "columns: a symmetric matrix"),
            (3, " 21", "-21", "must be a whole number"),
            (3, "     21", "9999999", "the file has only"),
            (3, " 21", " 20", "must be a whole number from 21 to 21"),
            (4, "(16I5)", "16I5", "no Fortran format"),
            (4, "(16I5)", "(16F5)", "not of the letters I"),
            (4, "(16I5)", "(16I)", "not understood"),
            (4, "(16I5)", "(16I0)", "not understood"),
            (4, "(16I5)", "(0I5)", "not understood"),
            (4, "(16I5)", "(16I999)", "not understood"),
            (4, "(3E26.18)", "(3A26)", "not of the letters"),
            (4, "(3E26.18)", "(2P,3F26.18)", "not understood"),
            (4, "(3E26.18)", "(3E26.18", "not understood"),
            (5, "1", "2", "the first of the column pointers is 2"),
            (5, "12", "99", "column pointers"),
            (5, "12", " 3", "must be a whole number from 7"),
            (5, "22", "21", "the last of the column pointers is 21"),
            (5, "12", "1x", '"1x" in the column pointers'),
            (6, "2", "7", "must be a whole number from 1 to 6"),
            (6, "2", "0", "must be a whole number from 1 to 6"),
            (6, "3", "2", "a second entry in row 2, column 1"),
            (
                6,
                "      2       3       4       5",
                "      1       3       4       5",
                "a second entry in row 1, column 1",
            ),
            (8, "6", "5", "above the diagonal"),
            (9, "E", "Q", "is not a number"),
            (9, "E+00", "E+999", "is not a number"),
        ):
            with self.subTest(line=line, new=new):
                where = 8 if message == "above the diagonal" else line
                where = 5 if new == " 20" else where
                self.assert_refused(self.damaged(line, old, new), where, message)

    def test_not_a_number(self) -> None:
        value = self.lines[8][:26]
        for word in ("nan", "inf", "-Infinity", "0x1p3"):
            with self.subTest(word):
                self.assert_refused(self.damaged(9, value, word.rjust(26)), 9, "is not a number")

    def test_no_file(self) -> None:
        for name, message in (("/nowhere/matrix", "No such file"), ("/", "directory")):
            done = subprocess.run(
                [CHOLESKY, f"--matrix={name}"], capture_output=True, text=True, env=REFUSED
            )
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(message, done.stderr)

    def test_random_bytes(self) -> None:
        rng = random.Random(5)
        for _ in range(100):
            text = bytearray(self.good.encode())
            for _ in range(rng.randrange(1, 4)):
                text[rng.randrange(len(text))] = rng.randrange(1, 128)
            self.file.write_bytes(text)
            done = subprocess.run(
                [CHOLESKY, f"--matrix={self.file}", "-t2"],
                capture_output=True,
                text=True,
                timeout=60,
                env=REFUSED,
            )
            self.assertIn(done.returncode, (0, 2), done)

    def test_not_positive_definite(self) -> None:
        for a, equation in (
            ([[1.0, 2.0], [2.0, 1.0]], ""),
            ([[0.0, 0.0], [0.0, 1.0]], " 1 "),
            ([[1.0, 0.0], [0.0, -1.0]], " 2 "),
        ):
            for threads in (1, 3):
                done = self.run_on(boeing(a), f"--threads={threads}", env=REFUSED)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn("the matrix is not positive definite", done.stderr)
                self.assertIn(f"equation{equation}", done.stderr)


class Generated(unittest.TestCase):
    def result(self, *options: str) -> float:
        done = subprocess.run(
            [CHOLESKY, "--json", *options], capture_output=True, text=True, timeout=60
        )
        self.assertEqual(done.returncode, 0, done)
        value: float = json.loads(done.stdout)["result"]
        return value

    def test_orders_agree(self) -> None:
        results = [
            self.result("--grid=9", f"--order={order}")
            for order in ("natural", "mindegree", "dissection")
        ]
        for value in results[1:]:
            self.assertAlmostEqual(value, results[0], delta=1e-11 * results[0])

    def test_seed(self) -> None:
        for size in ("--grid=4", "--dense=20"):
            self.assertNotEqual(self.result(size), self.result(size, "--seed=2"))

    def test_choices(self) -> None:
        for options, message in (
            (["--grid=3", "--dense=3"], "choose one of --matrix, --grid and --dense"),
            (["--dense=3", "--order=dissection"], "--order dissection: is for --grid only"),
            (["--order=best"], "--order best: must be natural, mindegree or dissection"),
            (["--block=129"], "--block 129: must be a whole number from 1 to 128"),
            (["--grid=1025"], "--grid 1025: must be a whole number from 1 to 1024"),
        ):
            done = subprocess.run([CHOLESKY, *options], capture_output=True, text=True, env=REFUSED)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
