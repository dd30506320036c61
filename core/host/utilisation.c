/* SPDX-License-Identifier: MIT */
/*
 * Cost. A sample reads a few small files for each process of the trial and some values of each GPU.
 * Its CPU time is measured, and the pause after it is at least 250 times as long, so that sampling
 * stays below 0.4 % of a core whatever the trial starts. Opening NVML is done once, with the first
 * sample.
 *
 * Points. Samples are averaged over a window that is one interval at first and grows with the
 * length of the trial: journal and store stay small, and a mean over the points, weighted by the
 * time that each covers, is the mean over the trial.
 *
 * Loss. When a GPU no longer answers, a note says so and its series end. When the driver hangs, the
 * thread does; the trial's end waits for it for a second and then leaves it behind.
 */
#include "core/host/utilisation.h"

#include "core/host/gpu_watch.h"
#include "lib/base/json.h"
#include "lib/hw/gpu_usage.h"
#include "lib/hw/usage.h"
#include "lib/wire/event.h"
#include "lib/wire/system_metrics.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define COST_SHARE 0.004
#define WINDOWS 600.0 /* points of the first that many intervals; then the window grows */
#define END_PATIENCE_S 1

/* The mean of a metric over the current window. */
struct mean {
    double sum;
    unsigned count;
};

struct utilisation {
    pthread_t thread;
    pthread_mutex_t lock; /* protects lines, is_ending and cost_s */
    pthread_cond_t wake;
    GString *lines; /* encoded events that the main thread has not taken yet */
    bool is_ending;
    double cost_s;
    int ready_fd;
    /* set before the thread starts, then used by it alone */
    double interval_s, threads;
    int64_t start_ns;
    char **gpu_names;                               /* as in CUDA_VISIBLE_DEVICES; NULL: all GPUs */
    unsigned gpus[ORCH_SYSTEM_GPUS_MAX], gpu_count; /* the driver's numbers */
    struct orch_gpu_usages *nvml;
    struct orch_usage_meter *meter;
    struct mean means[ORCH_SYSTEM_ALL];
    double window_end_s;
    int64_t last_step;
};

double orch_utilisation_wait_s(double interval_s, double cost_s)
{
    return fmax(interval_s, cost_s / COST_SHARE);
}

double orch_utilisation_window_s(double interval_s, double elapsed_s)
{
    return fmax(interval_s, elapsed_s / WINDOWS);
}

static double thread_cpu_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double elapsed_s(const struct utilisation *u)
{
    return (double)(orch_mono_ns() - u->start_ns) / 1e9;
}

/* ---- output -----------------------------------------------------------------------------------
 */

/* Hands lines to the main thread. */
static void publish(struct utilisation *u, const GString *lines)
{
    pthread_mutex_lock(&u->lock);
    g_string_append_len(u->lines, lines->str, (gssize)lines->len);
    pthread_mutex_unlock(&u->lock);
    const uint64_t one = 1;
    if (write(u->ready_fd, &one, sizeof one) != sizeof one)
        g_debug("the counter is full: the main thread has been told already");
}

static void publish_note(struct utilisation *u, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void publish_note(struct utilisation *u, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autoptr(json_t) note = json_pack("{s:s s:s}", "event", "note", "text", valid);
    g_autoptr(GString) line = g_string_new(NULL);
    orch_event_encode_json(line, note);
    publish(u, line);
}

/* Writes the means of the window that ends now, and begins the next one. */
static void end_window(struct utilisation *u, double now_s)
{
    struct orch_point points[ORCH_SYSTEM_ALL];
    int64_t step = MAX((int64_t)(now_s + 0.01), u->last_step + 1);
    size_t count = 0;
    for (unsigned i = 0; i < ORCH_SYSTEM_ALL; i++)
        if (u->means[i].count)
            points[count++] =
                (struct orch_point){orch_system_metric_at(i)->name, step, round(now_s * 1e3),
                                    u->means[i].sum / u->means[i].count};
    memset(u->means, 0, sizeof u->means);
    u->window_end_s = now_s + orch_utilisation_window_s(u->interval_s, now_s);
    u->last_step = step;
    g_autoptr(GString) lines = g_string_new(NULL);
    if (count)
        orch_event_encode_points(lines, points, count);
    if (count)
        publish(u, lines);
}

/* ---- sampling ---------------------------------------------------------------------------------
 */

static void add(struct utilisation *u, unsigned metric, double value)
{
    if (!isfinite(value))
        return;
    u->means[metric].sum += round(value * 1e3) / 1e3;
    u->means[metric].count++;
}

static void sample_machine(struct utilisation *u, double since_s)
{
    struct orch_machine_usage usage;
    orch_usage_meter_read(u->meter, &usage);
    add(u, ORCH_SYSTEM_CPU_TRIAL, 100 * usage.cpu_tree_s / since_s / u->threads);
    add(u, ORCH_SYSTEM_CPU_MACHINE, 100 * usage.cpu_machine);
    add(u, ORCH_SYSTEM_MEMORY_TRIAL, usage.memory_tree_mb);
    add(u, ORCH_SYSTEM_MEMORY_MACHINE, 100 * usage.memory_machine);
    add(u, ORCH_SYSTEM_DISK_READ, usage.read_mb / since_s);
    add(u, ORCH_SYSTEM_DISK_WRITE, usage.written_mb / since_s);
}

static void sample_gpu(struct utilisation *u, unsigned index)
{
    struct orch_gpu_usage usage;
    g_autofree char *why = NULL;
    const unsigned first = ORCH_SYSTEM_METRICS + index * ORCH_SYSTEM_GPU_METRICS;
    if (!orch_gpu_usage_read(u->nvml, u->gpus[index], &usage, &why)) {
        publish_note(u, "GPU %u is no longer sampled after %.0f s: NVML: %s", u->gpus[index],
                     elapsed_s(u), why);
        u->gpus[index] = UINT_MAX;
        return;
    }
    add(u, first + ORCH_SYSTEM_GPU_CORE, usage.core_percent);
    add(u, first + ORCH_SYSTEM_GPU_MEMORY_BUSY, usage.memory_busy_percent);
    add(u, first + ORCH_SYSTEM_GPU_MEMORY, usage.memory_mb);
    add(u, first + ORCH_SYSTEM_GPU_POWER, usage.power_w);
    add(u, first + ORCH_SYSTEM_GPU_TEMPERATURE, usage.temperature_c);
    add(u, first + ORCH_SYSTEM_GPU_CLOCK, usage.clock_mhz);
    add(u, first + ORCH_SYSTEM_GPU_MEMORY_CLOCK, usage.memory_clock_mhz);
}

static void open_gpus(struct utilisation *u)
{
    if (u->gpu_names && !u->gpu_names[0])
        return;
    g_autofree char *why = NULL;
    u->nvml = orch_gpu_usages_open(&why);
    if (why)
        publish_note(u, "GPUs are not sampled: %s", why);
    if (!u->nvml)
        return;
    if (!u->gpu_names) {
        u->gpu_count = MIN(orch_gpu_usages_count(u->nvml), ORCH_SYSTEM_GPUS_MAX);
        for (unsigned i = 0; i < u->gpu_count; i++)
            u->gpus[i] = i;
        return;
    }
    for (char **name = u->gpu_names; *name && u->gpu_count < ORCH_SYSTEM_GPUS_MAX; name++)
        if (orch_gpu_usages_find(u->nvml, *name, &u->gpus[u->gpu_count]))
            u->gpu_count++;
        else
            publish_note(u, "GPU '%s' is not sampled: NVML does not know it", *name);
}

/* Waits until the time (monotonic); false when the trial ends first. */
static bool wait_until(struct utilisation *u, int64_t due_ns)
{
    const struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};
    pthread_mutex_lock(&u->lock);
    int status = 0;
    while (!u->is_ending && status == 0)
        status = pthread_cond_timedwait(&u->wake, &u->lock, &due);
    bool is_ending = u->is_ending;
    pthread_mutex_unlock(&u->lock);
    return !is_ending;
}

static void *sample_until_end(void *ctx)
{
    struct utilisation *u = ctx;
    double cpu_s = thread_cpu_s(), before_s = elapsed_s(u), wait_s = u->interval_s;
    u->meter = orch_usage_meter_new("/proc");
    u->window_end_s = u->interval_s;
    for (bool is_first = true; wait_until(u, u->start_ns + (int64_t)((before_s + wait_s) * 1e9));
         is_first = false) {
        double now_s = elapsed_s(u);
        if (is_first)
            open_gpus(u);
        double opened_s = thread_cpu_s();
        sample_machine(u, fmax(now_s - before_s, 1e-3));
        for (unsigned i = 0; u->nvml && i < u->gpu_count; i++)
            if (u->gpus[i] != UINT_MAX)
                sample_gpu(u, i);
        if (now_s + u->interval_s / 2 >= u->window_end_s)
            end_window(u, now_s);
        double done_s = thread_cpu_s();
        wait_s = orch_utilisation_wait_s(u->interval_s, done_s - opened_s);
        before_s = now_s;
        pthread_mutex_lock(&u->lock);
        u->cost_s = done_s - cpu_s;
        pthread_mutex_unlock(&u->lock);
    }
    end_window(u, elapsed_s(u)); /* samples of a window that has not ended */
    orch_gpu_usages_close(u->nvml);
    orch_usage_meter_free(u->meter);
    return NULL;
}

/* ---- for the main thread ----------------------------------------------------------------------
 */

static bool start_thread(struct utilisation *u)
{
    sigset_t all, before;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&u->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&u->lock, NULL);
    sigfillset(&all); /* signals are for the main thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&u->thread, NULL, sample_until_end, u) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static void free_all(struct utilisation *u)
{
    pthread_mutex_destroy(&u->lock);
    pthread_cond_destroy(&u->wake);
    close(u->ready_fd);
    g_string_free(u->lines, TRUE);
    g_strfreev(u->gpu_names);
    g_free(u);
}

struct utilisation *orch_utilisation_start(const struct orch_trial_spec *trial, int64_t start_ns)
{
    if (!(trial->system_interval_s > 0))
        return NULL;
    struct utilisation *u = g_new0(struct utilisation, 1);
    u->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    u->lines = g_string_new(NULL);
    u->start_ns = start_ns;
    u->interval_s = fmax(trial->system_interval_s, ORCH_SYSTEM_INTERVAL_S);
    u->threads = trial->threads ? trial->threads : (double)g_get_num_processors();
    u->gpu_names = orch_gpu_watch_names(trial);
    if (u->ready_fd >= 0 && start_thread(u))
        return u;
    free_all(u);
    return NULL;
}

int orch_utilisation_fd(const struct utilisation *u)
{
    return u ? u->ready_fd : -1;
}

void orch_utilisation_take(struct utilisation *u, struct journal_out *out)
{
    uint64_t count;
    if (read(u->ready_fd, &count, sizeof count) != sizeof count)
        return;
    pthread_mutex_lock(&u->lock);
    g_string_append_len(out->pending, u->lines->str, (gssize)u->lines->len);
    g_string_truncate(u->lines, 0);
    pthread_mutex_unlock(&u->lock);
    orch_journal_out_touch(out);
}

double orch_utilisation_end(struct utilisation *u, struct journal_out *out)
{
    if (!u)
        return 0;
    pthread_mutex_lock(&u->lock);
    u->is_ending = true;
    pthread_cond_signal(&u->wake);
    pthread_mutex_unlock(&u->lock);
    struct timespec patience;
    clock_gettime(CLOCK_REALTIME, &patience);
    patience.tv_sec += END_PATIENCE_S;
    bool has_ended = pthread_timedjoin_np(u->thread, NULL, &patience) == 0;
    orch_utilisation_take(u, out);
    pthread_mutex_lock(&u->lock);
    double cost_s = u->cost_s;
    pthread_mutex_unlock(&u->lock);
    if (has_ended) /* else the thread hangs in the driver and still uses all of it */
        free_all(u);
    return cost_s;
}
