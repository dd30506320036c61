/* SPDX-License-Identifier: MIT */
/* The thread waits for the driver's events in steps of a tenth of a second, so that it ends soon,
 * and asks once a second whether the GPUs still answer, because not every driver reports events. */
#include "core/host/gpu_watch.h"

#include "lib/base/json.h"
#include "lib/hw/gpu_health.h"
#include "lib/wire/event.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 100, STEPS_PER_CHECK = 10, END_PATIENCE_S = 1, REMARKS_MAX = 20 };

struct gpu_watch {
    pthread_t thread;
    pthread_mutex_t lock; /* protects all below */
    char **names;
    GPtrArray *remarks; /* char *: not taken yet */
    unsigned remark_count;
    char *loss, *lost_name; /* or NULL */
    bool is_ending;
    int ready_fd;
};

char **orch_gpu_watch_names(const struct orch_trial_spec *trial)
{
    static const char name[] = "CUDA_VISIBLE_DEVICES=";
    const char *list = g_getenv("CUDA_VISIBLE_DEVICES");
    for (char **entry = trial->env; entry && *entry; entry++)
        if (g_str_has_prefix(*entry, name))
            list = *entry + strlen(name);
    if (!list)
        return NULL;
    g_auto(GStrv) words = g_strsplit(list, ",", -1);
    GPtrArray *names = g_ptr_array_new();
    for (char **word = words; *word; word++)
        if (*g_strstrip(*word))
            g_ptr_array_add(names, g_strdup(*word));
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

/* ---- the thread -------------------------------------------------------------------------------
 */

static bool is_ending(struct gpu_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    bool ending = watch->is_ending;
    pthread_mutex_unlock(&watch->lock);
    return ending;
}

/* Hands an event to the main thread. */
static void publish(struct gpu_watch *watch, const struct orch_gpu_health *health, bool is_lost)
{
    const uint64_t one = 1;
    pthread_mutex_lock(&watch->lock);
    if (is_lost) {
        watch->loss = g_strdup(orch_gpu_health_text(health));
        watch->lost_name = g_strdup(orch_gpu_health_name(health));
    } else if (watch->remark_count++ < REMARKS_MAX) {
        g_ptr_array_add(watch->remarks, g_strdup(orch_gpu_health_text(health)));
    }
    pthread_mutex_unlock(&watch->lock);
    if (write(watch->ready_fd, &one, sizeof one) != sizeof one)
        g_debug("the counter is full: the main thread has been told already");
}

static void *watch_until_end(void *ctx)
{
    struct gpu_watch *watch = ctx;
    struct orch_gpu_health *health = orch_gpu_health_open((const char *const *)watch->names);
    for (unsigned step = 0; health; step++) {
        bool is_last = is_ending(watch);
        enum orch_gpu_event event = orch_gpu_health_wait(health, is_last ? 0 : STEP_MS);
        if (event == ORCH_GPU_REMARK)
            publish(watch, health, false);
        if (event == ORCH_GPU_QUIET && (is_last || step % STEPS_PER_CHECK == 0))
            event = orch_gpu_health_check(health);
        if (event == ORCH_GPU_LOST)
            publish(watch, health, true);
        if (event == ORCH_GPU_LOST || (is_last && event == ORCH_GPU_QUIET))
            break;
    }
    orch_gpu_health_close(health);
    return NULL;
}

/* ---- for the main thread ----------------------------------------------------------------------
 */

static void free_watch(struct gpu_watch *watch)
{
    if (watch->ready_fd >= 0)
        close(watch->ready_fd);
    pthread_mutex_destroy(&watch->lock);
    g_ptr_array_unref(watch->remarks);
    g_strfreev(watch->names);
    g_free(watch->loss);
    g_free(watch->lost_name);
    g_free(watch);
}

struct gpu_watch *orch_gpu_watch_start(const struct orch_trial_spec *trial)
{
    char **names = trial->gpus ? orch_gpu_watch_names(trial) : NULL;
    if (!names)
        return NULL;
    struct gpu_watch *watch = g_new0(struct gpu_watch, 1);
    watch->names = names;
    watch->remarks = g_ptr_array_new_with_free_func(g_free);
    watch->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&watch->lock, NULL);
    sigset_t all, before;
    sigfillset(&all); /* signals are for the main thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok =
        watch->ready_fd >= 0 && pthread_create(&watch->thread, NULL, watch_until_end, watch) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok)
        return watch;
    free_watch(watch);
    return NULL;
}

int orch_gpu_watch_fd(const struct gpu_watch *watch)
{
    return watch ? watch->ready_fd : -1;
}

static void write_remark(struct journal_out *out, const char *remark)
{
    g_autofree char *text = g_strdup_printf("the driver reported on %s", remark);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autoptr(json_t) note = json_pack("{s:s s:s}", "event", "note", "text", valid);
    orch_journal_out_add(out, note);
}

char *orch_gpu_watch_take(struct gpu_watch *watch, struct journal_out *out)
{
    uint64_t count;
    if (read(watch->ready_fd, &count, sizeof count) != sizeof count)
        return NULL;
    pthread_mutex_lock(&watch->lock);
    for (guint i = 0; i < watch->remarks->len; i++)
        write_remark(out, watch->remarks->pdata[i]);
    g_ptr_array_set_size(watch->remarks, 0);
    char *loss = g_strdup(watch->loss);
    pthread_mutex_unlock(&watch->lock);
    return loss;
}

char *orch_gpu_watch_end(struct gpu_watch *watch, bool looks_again, struct journal_out *out,
                         char **out_name)
{
    *out_name = NULL;
    if (!watch)
        return NULL;
    pthread_mutex_lock(&watch->lock);
    watch->is_ending = true;
    bool is_known = watch->loss != NULL;
    pthread_mutex_unlock(&watch->lock);
    struct timespec patience;
    clock_gettime(CLOCK_REALTIME, &patience);
    patience.tv_sec += looks_again && !is_known ? END_PATIENCE_S : 0;
    bool has_ended = pthread_timedjoin_np(watch->thread, NULL, &patience) == 0;
    g_free(orch_gpu_watch_take(watch, out));
    pthread_mutex_lock(&watch->lock);
    char *loss = g_strdup(watch->loss);
    *out_name = g_strdup(watch->lost_name);
    pthread_mutex_unlock(&watch->lock);
    if (has_ended) /* else the thread still uses all of it until this process ends */
        free_watch(watch);
    return loss;
}
