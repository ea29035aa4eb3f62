/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model is not watched. */
#ifndef IVL_WATCH_H
#define IVL_WATCH_H

#define ivl_is_watched(worker) false
#define ivl_is_watching() false
#define ivl_watch_switch(worker, left, next) ((void)0)
#define ivl_watch_steal(worker, victim) ((void)0)
#define ivl_watch_async(start, ...) start(worker, finish, function, arg, bytes, place)
#define ivl_watch_body(interval) 0
#define ivl_watch_guard(runtime, name) 0
#define ivl_watch_now() 0
#define ivl_watch_held(guard, interval, asked) ((void)0)
#define ivl_watch_left(guard) ((void)0)
#define ivl_watch_hold(interval, name, sum) 0
#define ivl_watch_make() NULL
#define ivl_watch_unmake(reached) ((void)0)
#define ivl_watch_edge(from, to) ((void)0)
#define ivl_watch_arrive(point) ((void)0)
#define ivl_watch_joined(point) ((void)0)
#define ivl_watch_scheduled(interval, made) ((void)0)
#define ivl_watch_finished(finish) ((void)0)

#endif
