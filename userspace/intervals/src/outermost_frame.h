/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For the assembler text that calls a function on another stack: nobody has called whoever
 * does that. An unwinder (pthread_exit(), backtrace(), a profiler, a debugger) would take for
 * a frame what lies above that stack.
 */
#ifndef IVL_OUTERMOST_FRAME_H
#define IVL_OUTERMOST_FRAME_H

/* Between them `pc`, where DWARF has the return address, is not known. */
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
#define IVL_OUTERMOST_FRAME_BEGIN(pc) ".cfi_remember_state\n\t.cfi_undefined " pc "\n\t"
#define IVL_OUTERMOST_FRAME_END ".cfi_restore_state\n"
#else
#define IVL_OUTERMOST_FRAME_BEGIN(pc)
#define IVL_OUTERMOST_FRAME_END
#endif

#endif
