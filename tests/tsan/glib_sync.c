/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tells ThreadSanitizer what GLib synchronises. GLib's locks are futexes in a library that is not
 * instrumented, so ThreadSanitizer sees no order between threads that use them and would report
 * each use as a race. In a build with ORCH_TSAN the linker (--wrap) sends our calls through here;
 * each wrapper calls GLib and announces the order that the call gives.
 *
 * A function of GLib that orders threads and is missing here shows as a false report, never as a
 * missed race.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>

/* --wrap renames what shared libraries refer to as well, so the linker wants the wrappers exported
 */
#pragma GCC visibility push(default)

/* Of ThreadSanitizer's run-time library (compiler-rt, include/sanitizer/tsan_interface.h). */
void __tsan_acquire(void *address);
void __tsan_release(void *address);

/* ---- locks ------------------------------------------------------------------------------------
 */

void __real_g_mutex_lock(GMutex *mutex);
void __real_g_mutex_unlock(GMutex *mutex);
gboolean __real_g_mutex_trylock(GMutex *mutex);
void __real_g_cond_wait(GCond *cond, GMutex *mutex);
gboolean __real_g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end_time);

void __wrap_g_mutex_lock(GMutex *mutex);
void __wrap_g_mutex_lock(GMutex *mutex)
{
    __real_g_mutex_lock(mutex);
    __tsan_acquire(mutex);
}

void __wrap_g_mutex_unlock(GMutex *mutex);
void __wrap_g_mutex_unlock(GMutex *mutex)
{
    __tsan_release(mutex);
    __real_g_mutex_unlock(mutex);
}

gboolean __wrap_g_mutex_trylock(GMutex *mutex);
gboolean __wrap_g_mutex_trylock(GMutex *mutex)
{
    gboolean has = __real_g_mutex_trylock(mutex);
    if (has)
        __tsan_acquire(mutex);
    return has;
}

/* Waiting gives the lock up and takes it again. */
void __wrap_g_cond_wait(GCond *cond, GMutex *mutex);
void __wrap_g_cond_wait(GCond *cond, GMutex *mutex)
{
    __tsan_release(mutex);
    __real_g_cond_wait(cond, mutex);
    __tsan_acquire(mutex);
}

gboolean __wrap_g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end_time);
gboolean __wrap_g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end_time)
{
    __tsan_release(mutex);
    gboolean woken = __real_g_cond_wait_until(cond, mutex, end_time);
    __tsan_acquire(mutex);
    return woken;
}

/* ---- queues -----------------------------------------------------------------------------------
 */

void __real_g_async_queue_push(GAsyncQueue *queue, gpointer data);
gpointer __real_g_async_queue_try_pop(GAsyncQueue *queue);

void __wrap_g_async_queue_push(GAsyncQueue *queue, gpointer data);
void __wrap_g_async_queue_push(GAsyncQueue *queue, gpointer data)
{
    __tsan_release(data);
    __real_g_async_queue_push(queue, data);
}

gpointer __wrap_g_async_queue_try_pop(GAsyncQueue *queue);
gpointer __wrap_g_async_queue_try_pop(GAsyncQueue *queue)
{
    gpointer data = __real_g_async_queue_try_pop(queue);
    if (data)
        __tsan_acquire(data);
    return data;
}

/* ---- calls that another thread makes ----------------------------------------------------------
 */

struct call {
    GFunc work;         /* of a pool */
    GSourceFunc source; /* of a main loop */
    gpointer data;
};

GThreadPool *__real_g_thread_pool_new(GFunc work, gpointer data, gint threads, gboolean exclusive,
                                      GError **error);
gboolean __real_g_thread_pool_push(GThreadPool *pool, gpointer data, GError **error);
guint __real_g_idle_add_full(gint priority, GSourceFunc source, gpointer data,
                             GDestroyNotify notify);

static void work_in_order(gpointer data, gpointer context)
{
    const struct call *call = context;
    __tsan_acquire(data);
    call->work(data, call->data);
}

/* The context lives as long as the process, as pools here do. */
GThreadPool *__wrap_g_thread_pool_new(GFunc work, gpointer data, gint threads, gboolean exclusive,
                                      GError **error);
GThreadPool *__wrap_g_thread_pool_new(GFunc work, gpointer data, gint threads, gboolean exclusive,
                                      GError **error)
{
    struct call *call = g_new0(struct call, 1);
    *call = (struct call){.work = work, .data = data};
    return __real_g_thread_pool_new(work_in_order, call, threads, exclusive, error);
}

gboolean __wrap_g_thread_pool_push(GThreadPool *pool, gpointer data, GError **error);
gboolean __wrap_g_thread_pool_push(GThreadPool *pool, gpointer data, GError **error)
{
    __tsan_release(data);
    return __real_g_thread_pool_push(pool, data, error);
}

static gboolean call_in_order(gpointer context)
{
    struct call *call = context;
    __tsan_acquire(call);
    return call->source(call->data);
}

guint __wrap_g_idle_add_full(gint priority, GSourceFunc source, gpointer data,
                             GDestroyNotify notify);
guint __wrap_g_idle_add_full(gint priority, GSourceFunc source, gpointer data,
                             GDestroyNotify notify)
{
    if (notify) /* nothing of ours passes one; it would have to be called in order as well */
        abort();
    struct call *call = g_new0(struct call, 1);
    *call = (struct call){.source = source, .data = data};
    __tsan_release(call);
    return __real_g_idle_add_full(priority, call_in_order, call, g_free);
}
