/* SPDX-License-Identifier: GPL-2.0 */
/* In the models' place of liburcu: no queue gives memory back, so that nothing waits. */
#ifndef IVL_MODEL_URCU_MEMB_H
#define IVL_MODEL_URCU_MEMB_H

#include <cstddef>

#define urcu_memb_register_thread()
#define urcu_memb_unregister_thread()
#define urcu_memb_read_lock()
#define urcu_memb_read_unlock()

#define caa_container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

#endif
