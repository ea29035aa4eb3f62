// SPDX-License-Identifier: GPL-2.0
/* The three markers around a line of output: test_roi.py is its listener. */
#include "roi.h"

int main(void)
{
	roi_warmup();
	roi_begin();
	fputs("in the region\n", stderr);
	roi_end();
	return 0;
}
