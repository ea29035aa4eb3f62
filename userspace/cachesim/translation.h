/* SPDX-License-Identifier: GPL-2.0 */
/* What QEMU is asked to report of the code that it translates. */
#ifndef CACHESIM_TRANSLATION_H
#define CACHESIM_TRANSLATION_H

#include "qemu_plugin_api.h"

/* QEMU has translated a block of code. */
void translation_made(struct qemu_plugin_tb *tb);

#endif
