/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For assembly that calls a function on another stack. It marks the called frame as the outermost:
 * an unwinder (pthread_exit(), backtrace(), a profiler, a debugger) would otherwise take what lies
 * above that stack for a frame.
 */
#ifndef IVL_OUTERMOST_FRAME_H
#define IVL_OUTERMOST_FRAME_H

/* Between them the return address (DWARF register `pc`) is undefined. */
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
#define IVL_OUTERMOST_FRAME_BEGIN(pc) ".cfi_remember_state\n\t.cfi_undefined " pc "\n\t"
#define IVL_OUTERMOST_FRAME_END ".cfi_restore_state\n"
#else
#define IVL_OUTERMOST_FRAME_BEGIN(pc)
#define IVL_OUTERMOST_FRAME_END
#endif

#endif
