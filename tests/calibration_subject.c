// SPDX-License-Identifier: GPL-2.0
/* What fast-calibrate measures of the kernel by itself, as one JSON object. */
#include <stdio.h>

#include "calibrate.h"
#include "roi.h"

int main(void)
{
	double wait, handoff;

	pin(0);
	ROI_MARK(ROI_BEGIN);
	wait = measure_refused_wait();
	handoff = measure_handoff(0, 0, 0);
	ROI_MARK(ROI_END);
	printf("{\"refused_wait\": %f, \"handoff_same_cpu\": %f}\n", wait, handoff);
	return 0;
}
