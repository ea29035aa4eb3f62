/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parallel forms of the theses' programs, for parallel/forms.h. */
#include "theses/parallel/series.h"
#include "theses/parallel/crypt.h"
#include "theses/parallel/lufact.h"
#include "theses/parallel/montecarlo.h"
#include "theses/parallel/raytracer.h"
#include "theses/parallel/moldyn.h"
#include "theses/parallel/cachestress.h"
#include "theses/parallel/mergesort.h"
#include "theses/parallel/blockmm.h"
