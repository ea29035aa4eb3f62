// SPDX-License-Identifier: GPL-2.0
#include "splash.h"

int main(int argc, char **argv)
{
	return splash_main(&program, argc, argv);
}
