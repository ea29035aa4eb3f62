divert(-1)
# SPDX-License-Identifier: GPL-2.0
#
# PARMACS on pthreads, for the original SPLASH-2 and for Splash-3. By hand:
#
#	m4 -Ulen -Uindex parmacs.m4 fft.C > fft.c
#	gcc -std=gnu89 -fcommon -pthread -include parmacs.h -I userspace/roi -c fft.c
#
# parmacs.h does the work and says how; here are only the names. `fast splash build`
# does both for a whole tree.
#
# The programs write some macros without a semicolon, so each expands to a block, a
# declaration or an expression that brings its own.

# parmacs_define(NAME, BODY): NAME(...) is BODY. Without arguments it is a word of a
# comment or a string and stays as it is.
define(`parmacs_define', `define(`$1', `ifelse($'`#, `0', ``$1'', `$2')')')

# parmacs_missing(NAME): refused where it is used, for nothing of SPLASH-2 does.
define(`parmacs_missing', `parmacs_define(`$1',
	`errprint(__file__:__line__`: error: $1 is not among the macros of parmacs.m4
')m4exit(1)')')

# The environment
define(`MAIN_ENV', `')
define(`EXTERN_ENV', `')
define(`ENV', `')
define(`NEWPROC', `')
define(`INCLUDES', `')
parmacs_define(`MAIN_INITENV', `{;}')
define(`MAIN_END', `{exit(0);}')

# Threads. The original creates one at a time, Splash-3 all, the caller included.
parmacs_define(`CREATE', `{ifelse(`$#', `1',
	`parmacs_create((void (*)(void))($1));',
	`parmacs_create_all((void (*)(void))($1), ($2));')}')
parmacs_define(`WAIT_FOR_END', `{parmacs_wait_for_end();}')

# Locks
parmacs_define(`LOCKDEC', `pthread_mutex_t $1;')
parmacs_define(`LOCKINIT', `{pthread_mutex_init(&($1), NULL);}')
parmacs_define(`LOCK', `{pthread_mutex_lock(&($1));}')
parmacs_define(`UNLOCK', `{pthread_mutex_unlock(&($1));}')
define(`NLOCKDEC', defn(`LOCKDEC'))
define(`NLOCKINIT', defn(`LOCKINIT'))
define(`NLOCK', defn(`LOCK'))
define(`NUNLOCK', defn(`UNLOCK'))

# Arrays of locks
parmacs_define(`ALOCKDEC', `pthread_mutex_t $1[$2];')
parmacs_define(`ALOCKINIT', `{parmacs_lock_array_init(($1), ($2));}')
parmacs_define(`ALOCK', `{pthread_mutex_lock(&($1)[$2]);}')
parmacs_define(`AULOCK', `{pthread_mutex_unlock(&($1)[$2]);}')
define(`AUNLOCK', defn(`AULOCK'))
parmacs_define(`AGETL', `(($1)[$2])')

# Barriers. Only Splash-3 tells BARINIT how many threads there are.
parmacs_define(`BARDEC', `struct parmacs_barrier $1;')
parmacs_define(`BARINIT', `{parmacs_barrier_init(&($1));}')
parmacs_define(`BARRIER', `{parmacs_barrier(&($1), ($2));}')

# Flags
parmacs_define(`PAUSEDEC', `struct parmacs_pause $1;')
parmacs_define(`PAUSEINIT', `{parmacs_pause_init(&($1));}')
parmacs_define(`SETPAUSE', `{parmacs_pause_put(&($1), 1);}')
parmacs_define(`CLEARPAUSE', `{parmacs_pause_put(&($1), 0);}')
parmacs_define(`WAITPAUSE', `{parmacs_pause_wait(&($1));}')

# Condition variables and fences: Splash-3
parmacs_define(`CONDVARDEC', `pthread_cond_t $1;')
parmacs_define(`CONDVARINIT', `{pthread_cond_init(&($1), NULL);}')
parmacs_define(`CONDVARWAIT', `{pthread_cond_wait(&($1), &($2));}')
parmacs_define(`CONDVARSIGNAL', `{pthread_cond_signal(&($1));}')
parmacs_define(`CONDVARBCAST', `{pthread_cond_broadcast(&($1));}')
parmacs_define(`ACQUIRE_FENCE', `{__atomic_thread_fence(__ATOMIC_ACQUIRE);}')
parmacs_define(`RELEASE_FENCE', `{__atomic_thread_fence(__ATOMIC_RELEASE);}')
parmacs_define(`FULL_FENCE', `{__atomic_thread_fence(__ATOMIC_SEQ_CST);}')

# Loops that hand out their subscripts
parmacs_define(`GSDEC', `struct parmacs_subscripts $1;')
parmacs_define(`GSINIT', `{parmacs_subscripts_init(&($1));}')
parmacs_define(`GETSUB', `{($2) = parmacs_subscript(&($1), ($3), ($4));}')
define(`NU_GSDEC', defn(`GSDEC'))
define(`NU_GSINIT', defn(`GSINIT'))
define(`NU_GETSUB', defn(`GETSUB'))

# Memory. What is freed was cut out of larger pieces now and then: nothing is given back.
parmacs_define(`G_MALLOC', `parmacs_malloc($1);')
parmacs_define(`G_MALLOC_F', `parmacs_malloc($1)')
parmacs_define(`G_FREE', `;')
define(`NU_MALLOC', defn(`G_MALLOC'))
define(`NU_MALLOC_F', defn(`G_MALLOC_F'))
define(`NU_FREE', defn(`G_FREE'))

parmacs_define(`CLOCK', `{($1) = parmacs_clock();}')

# CREATE and WAIT_FOR_END mark the region of interest, in the original too.
parmacs_define(`SPLASH3_ROI_BEGIN', `{;}')
parmacs_define(`SPLASH3_ROI_END', `{;}')

# Words to the simulators of the time, and to machines with memory for each processor
define(`AUG_ON', `')
define(`AUG_OFF', `')
define(`TRACE_ON', `')
define(`TRACE_OFF', `')
define(`REF_TRACE_ON', `')
define(`REF_TRACE_OFF', `')
define(`DYN_TRACE_ON', `;')
define(`DYN_TRACE_OFF', `;')
define(`DYN_REF_TRACE_ON', `;')
define(`DYN_REF_TRACE_OFF', `;')
define(`DYN_SIM_ON', `;')
define(`DYN_SIM_OFF', `;')
define(`DYN_SCHED_ON', `;')
define(`DYN_SCHED_OFF', `;')
define(`AUG_SET_LOLIMIT', `;')
define(`AUG_SET_HILIMIT', `;')
parmacs_define(`AUG_DELAY', `{;}')
parmacs_define(`ST_LOG', `{;}')
parmacs_define(`SET_HOME', `{;}')
parmacs_define(`GET_HOME', `{($1) = 0;}')

# Monitors and what is built on them
parmacs_missing(`MENTER')
parmacs_missing(`MEXIT')
parmacs_missing(`MONINIT')
parmacs_missing(`DELAY')
parmacs_missing(`CONTINUE')
parmacs_missing(`ADEC')
parmacs_missing(`AINIT')
parmacs_missing(`PROBEND')
parmacs_missing(`EVENT')
parmacs_missing(`PAUSE')
parmacs_missing(`BAREXCLUDE')
parmacs_missing(`BARINCLUDE')
parmacs_missing(`GET_PID')

# Names of m4 that are names of C as well
undefine(`parmacs_missing', `index', `len', `substr', `format', `eval', `shift', `incr', `decr')
divert(0)dnl
