// SPDX-License-Identifier: LGPL-2.1-or-later
/* For programs that are not written as tests of the library: they fail without it, too. */
#include "check.h"
