# SPDX-License-Identifier: LGPL-2.1-or-later
"""`python -m intervals_openmp [--check] SCRIPT ...`: this Python, with the library preloaded."""

import sys

from intervals_openmp.command import main

if __name__ == "__main__":
    # What stands before -m is for the interpreter of the script, too.
    options = sys.orig_argv[1 : sys.orig_argv.index("-m")]
    sys.exit(main(sys.argv[1:], "python -m intervals_openmp", [sys.executable, *options]))
