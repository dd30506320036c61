/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread, one poll loop: a host's end is told by its pidfd, a signal by a signalfd. Trials
 * start repeat by repeat, so that the arms of a comparison are interleaved in time. A timing trial
 * runs alone: when it is its turn, the slots drain first. */
#include "core/run/schedule.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/reals.h"
#include "lib/wire/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum job_status { JOB_TODO, JOB_RUNNING, JOB_HELD, JOB_ENDED };

struct job {
    unsigned index; /* of the plan's item */
    enum job_status status;
    unsigned tries;
    bool well; /* ended so that others may refer to it */
};

/* A host at work. */
struct host {
    struct orch_running running; /* first: what the listener sees */
    struct job *job;
    char *record;
    pid_t pid;
    int pidfd;    /* -1: none, polled */
    int stdin_fd; /* its end tells the host that the runner is gone */
    bool cancelled;
};

/* A compiled plugin's file when the run began. */
struct plugin_file {
    const char *path;
    struct stat info;
};

struct run {
    struct orch_plan *plan;
    const struct orch_run_options *options;
    const struct orch_listener *listener;
    struct orch_totals totals;
    struct job *jobs; /* one for each item, same index */
    unsigned *order;  /* indices of items in the order of starting */
    unsigned order_count;
    GPtrArray *hosts;    /* struct host *: at work */
    GPtrArray *ended;    /* struct host *: gone, not collected yet */
    bool collects_first; /* nothing may run beside the collecting */
    GArray *plugin_files;
    GHashTable *wall_by_experiment; /* experiment -> GArray of double, seconds */
    char *host_program;
    struct orch_process self;
    int signal_fd;
    unsigned stop_level; /* 1: start nothing more, 2: running trials are stopped */
    bool failed_fast, unsynced;
    double ended_device_s; /* of trials that ended: wall seconds x devices */
    unsigned refused;      /* trials that a limit kept back in the last round of starting */
    int64_t last_sync_ns, last_tick_ns, last_held_ns;
};

static void say(struct run *run, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void say(struct run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    if (run->listener->message)
        run->listener->message(run->listener->ctx, text);
}

/* ---- slots ------------------------------------------------------------------------------------
 */

static bool slot_is_free(const struct run *run, unsigned index)
{
    for (guint i = 0; i < run->hosts->len; i++)
        if (((const struct host *)run->hosts->pdata[i])->running.slot.index == index)
            return false;
    return true;
}

static bool gpu_is_free(const struct run *run, unsigned gpu)
{
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct orch_slot *slot = &((const struct host *)run->hosts->pdata[i])->running.slot;
        for (unsigned j = 0; j < slot->gpu_count; j++)
            if (slot->gpus[j] == gpu)
                return false;
    }
    return true;
}

static bool take_gpus(const struct run *run, unsigned wanted, struct orch_slot *slot)
{
    unsigned count = run->options->gpus ? run->options->gpu_count
                                        : orch_workspace_machine(run->plan->workspace)->gpus->len;
    for (unsigned i = 0; i < count && slot->gpu_count < wanted; i++) {
        unsigned gpu = run->options->gpus ? run->options->gpus[i] : i;
        if (gpu_is_free(run, gpu))
            slot->gpus[slot->gpu_count++] = gpu;
    }
    return slot->gpu_count == wanted;
}

/* With several slots each is pinned to its own share of the CPUs that this process may use. */
static void pin(const struct run *run, struct orch_slot *slot)
{
    cpu_set_t allowed;
    if (run->options->slots < 2 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    int cpus[CPU_SETSIZE], count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            cpus[count++] = cpu;
    int first = (int)slot->index * slot->threads;
    for (int i = 0; i < slot->threads && first + slot->threads <= count; i++)
        slot->cpus[slot->cpu_count++] = cpus[first + i];
}

/* A slot for a trial of the experiment; false when it must wait. */
static bool take_slot(const struct run *run, const struct orch_experiment *experiment,
                      struct orch_slot *slot)
{
    memset(slot, 0, sizeof *slot);
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct host *host = run->hosts->pdata[i];
        if (orch_experiment_is_timing(host->running.item->cell->experiment))
            return false;
    }
    bool alone = orch_experiment_is_timing(experiment);
    if ((alone && run->hosts->len) || run->hosts->len >= run->options->slots)
        return false;
    while (!slot_is_free(run, slot->index))
        slot->index++;
    slot->co_runners = run->hosts->len;
    slot->threads = orch_experiment_threads(
        experiment, orch_workspace_machine(run->plan->workspace), run->options->slots);
    if (!alone)
        pin(run, slot);
    return take_gpus(run, orch_experiment_gpus(experiment), slot);
}

/* ---- starting ---------------------------------------------------------------------------------
 */

static int open_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

/* Starts `orch-host DIR` in a process group of its own, with a pipe on its standard input. */
static bool spawn_host(struct run *run, struct host *host, GError **error)
{
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make a pipe");
        return false;
    }
    g_autofree char *errors = g_build_filename(host->running.trial_dir, "host.stderr", NULL);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_fds[0], 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    char *argv[] = {run->host_program, host->running.trial_dir, NULL};
    int status = posix_spawn(&host->pid, run->host_program, &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(pipe_fds[0]);
    if (status != 0) {
        close(pipe_fds[1]);
        orch_error_set_errno(error, ORCH_ERROR_IO, status, "cannot start '%s'", run->host_program);
        return false;
    }
    host->stdin_fd = pipe_fds[1];
    host->pidfd = open_pidfd(host->pid);
    return true;
}

static void host_free(void *pointer)
{
    struct host *host = pointer;
    if (host->pidfd >= 0)
        close(host->pidfd);
    if (host->stdin_fd >= 0)
        close(host->stdin_fd);
    if (host->running.points)
        g_array_unref(host->running.points);
    g_free(host->running.trial_dir);
    g_free(host->record);
    g_free(host);
}

/* A compiled plugin that was rebuilt since the run began would mix two versions in one sweep. */
static bool plugin_is_unchanged(struct run *run, const struct orch_manifest *manifest,
                                GError **error)
{
    struct stat now;
    if (manifest->kind != ORCH_PLUGIN_COMPILED || !manifest->path)
        return true;
    bool there = stat(manifest->path, &now) == 0;
    for (guint i = 0; i < run->plugin_files->len; i++) {
        const struct plugin_file *file = &g_array_index(run->plugin_files, struct plugin_file, i);
        if (strcmp(file->path, manifest->path) != 0)
            continue;
        if (there && now.st_size == file->info.st_size && now.st_ino == file->info.st_ino &&
            now.st_mtim.tv_sec == file->info.st_mtim.tv_sec &&
            now.st_mtim.tv_nsec == file->info.st_mtim.tv_nsec)
            return true;
        orch_error_set(
            error, ORCH_ERROR_PLUGIN,
            "run the same command again: what ended is kept, the rest runs with the new build",
            "plugin '%s' changed while its sweep was running", manifest->path);
        return false;
    }
    if (there) {
        struct plugin_file file = {manifest->path, now};
        g_array_append_val(run->plugin_files, file);
    }
    return true;
}

static void spare(struct run *run, struct job *job, const char *key)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    g_free(item->run_key);
    item->run_key = g_strdup(key);
    item->state = ORCH_PLAN_DONE;
    job->status = JOB_ENDED;
    job->well = true;
    run->totals.spared++;
}

static bool forecast_of(const struct run *run, const struct orch_plan_item *item,
                        struct orch_forecast *out)
{
    const struct orch_forecaster *forecaster = run->options->forecaster;
    return forecaster && forecaster->forecast(forecaster->ctx, item, out);
}

/* A run is worth more than a note about it: that this fails stops nothing. */
static void keep_forecast(struct run *run, struct host *host)
{
    struct orch_forecast forecast;
    g_autoptr(GError) problem = NULL;
    if (!forecast_of(run, host->running.item, &forecast))
        return;
    host->running.has_forecast = true;
    host->running.forecast_p5_s = forecast.p5_s;
    host->running.forecast_p50_s = forecast.p50_s;
    host->running.forecast_p95_s = forecast.p95_s;
    if (!orch_forecast_store(run->plan, host->running.item, host->running.key, &forecast, &problem))
        say(run, "the forecast of %s was not kept: %s", host->running.key, problem->message);
}

/* Makes the folder of a trial that is claimed, and starts its host. */
static bool launch(struct run *run, struct job *job, const struct orch_slot *slot,
                   struct orch_trialdir *dir, int64_t started_ns, GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    struct host *host = g_new0(struct host, 1);
    host->running.item = item;
    host->running.slot = *slot;
    host->running.trial_dir = g_strdup(dir->path);
    host->running.started_ns = started_ns;
    host->running.started_mono_ns = orch_mono_ns();
    memcpy(host->running.key, dir->key, sizeof dir->key);
    host->record = g_steal_pointer(&dir->record);
    host->job = job;
    host->pidfd = host->stdin_fd = -1;
    if (!orch_trialdir_write(run->plan, item, slot, dir, error) || !spawn_host(run, host, error)) {
        orch_tree_remove(host->running.trial_dir, NULL);
        orch_store_forget(run->plan->store, host->running.key, NULL);
        host_free(host);
        return false;
    }
    item->attempts++;
    job->status = JOB_RUNNING;
    g_ptr_array_add(run->hosts, host);
    keep_forecast(run, host);
    if (run->listener->started)
        run->listener->started(run->listener->ctx, &host->running);
    return true;
}

/* Claims the trial in the store, and starts its host if the claim is ours. */
static bool start(struct run *run, struct job *job, const unsigned *chosen,
                  const struct orch_slot *slot, GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    const struct orch_experiment *experiment = item->cell->experiment;
    struct orch_trialdir dir;
    if (!plugin_is_unchanged(run, experiment->manifest, error) ||
        !orch_trialdir_prepare(run->plan, item, chosen, slot, run->options->argv_json, &dir, error))
        return false;
    struct orch_active active = {.fingerprint = item->fingerprint,
                                 .where_key = item->where_key,
                                 .trial_dir = dir.path,
                                 .record = dir.record,
                                 .runner = run->self,
                                 .started_ns = orch_now_ns()};
    memcpy(active.key, dir.key, sizeof active.key);
    enum orch_begin begin;
    char other[ORCH_KEY_CHARS] = "";
    bool ok = orch_store_begin(run->plan->store, &active, (enum orch_reuse)experiment->reuse,
                               item->forced, &begin, other, error);
    if (ok && begin == ORCH_BEGIN_DONE)
        spare(run, job, other);
    else if (ok && begin == ORCH_BEGIN_HELD)
        job->status = JOB_HELD;
    else if (ok)
        ok = launch(run, job, slot, &dir, active.started_ns, error);
    orch_trialdir_clear(&dir);
    return ok;
}

static void give_up(struct run *run, struct job *job, const char *why)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    g_free(item->reason);
    item->reason = g_strdup(why);
    job->status = JOB_ENDED;
    run->totals.not_run++;
    g_autofree char *label = orch_cell_label(item->cell);
    say(run, "%s was not run: %s", label, why);
}

enum readiness { READY, NOT_YET, NEVER };

/* Are all the trials that this one refers to done? Fills `chosen` with those it means. */
static bool look_at_refs(struct run *run, struct job *job, unsigned *chosen, enum readiness *out,
                         GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    *out = READY;
    for (guint i = 0; i < item->cell->refs->len; i++) {
        const struct orch_ref *ref = item->cell->refs->pdata[i];
        for (guint j = 0; j < ref->cells->len; j++) {
            const struct job *other = &run->jobs[g_array_index(ref->cells, unsigned, j)];
            if (other->status == JOB_ENDED && !other->well) {
                g_autofree char *label = orch_cell_label(run->plan->items[other->index].cell);
                g_autofree char *why =
                    g_strdup_printf("it needs %s, and %s did not end well", ref->text, label);
                give_up(run, job, why);
                *out = NEVER;
                return true;
            }
            if (other->status != JOB_ENDED)
                *out = NOT_YET;
        }
        if (*out == NOT_YET)
            return true;
        char *why = NULL;
        GError *problem = NULL;
        if (!orch_plan_choose(run->plan, ref, &chosen[i], &why, &problem)) {
            if (problem) {
                g_propagate_error(error, problem);
                return false;
            }
            give_up(run, job, why);
            g_free(why);
            *out = NEVER;
            return true;
        }
    }
    return true;
}

/* ---- limits -----------------------------------------------------------------------------------
 */

static struct orch_usage usage_of(const struct run *run)
{
    struct orch_usage usage = {.spent_s = run->ended_device_s};
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct orch_running *running = run->hosts->pdata[i];
        double elapsed = (double)(orch_mono_ns() - running->started_mono_ns) / 1e9;
        double devices = orch_plan_item_devices(running->item);
        usage.spent_s += devices * elapsed;
        if (running->has_forecast)
            usage.expected_s += devices * MAX(0.0, running->forecast_p50_s - elapsed);
    }
    return usage;
}

/* Would its forecast break a limit? */
static bool is_refused(struct run *run, const struct orch_plan_item *item)
{
    if (!run->options->limits)
        return false;
    struct orch_forecast forecast;
    double p50_s = forecast_of(run, item, &forecast) ? forecast.p50_s : (double)NAN;
    struct orch_usage usage = usage_of(run);
    enum orch_limit limit = orch_limits_refuse(run->options->limits, &usage, p50_s,
                                               orch_plan_item_devices(item), orch_now_ns());
    if (limit == ORCH_LIMIT_NONE)
        return false;
    run->totals.limit = limit;
    run->refused++;
    return true;
}

static bool try_start(struct run *run, struct job *job, bool *out_blocked, GError **error)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    g_autofree unsigned *chosen = g_new0(unsigned, item->cell->refs->len + 1);
    enum readiness readiness;
    if (!look_at_refs(run, job, chosen, &readiness, error))
        return false;
    if (readiness != READY)
        return true;
    if (item->state == ORCH_PLAN_WAITING || !item->fingerprint[0]) {
        if (!orch_plan_settle(run->plan, job->index, error))
            return false;
        if (item->state == ORCH_PLAN_DONE) {
            g_autofree char *key = g_strdup(item->run_key);
            spare(run, job, key);
            return true;
        }
        if (item->state == ORCH_PLAN_SKIPPED) {
            job->status = JOB_ENDED;
            run->totals.skipped++;
            return true;
        }
    }
    if (is_refused(run, item))
        return true;
    struct orch_slot slot;
    if (!take_slot(run, item->cell->experiment, &slot)) {
        *out_blocked = true; /* keep the order: what comes later does not overtake */
        return true;
    }
    return start(run, job, chosen, &slot, error);
}

static bool start_what_fits(struct run *run, GError **error)
{
    bool blocked = false;
    run->refused = 0;
    for (unsigned i = 0; i < run->order_count && !blocked && run->hosts->len < run->options->slots;
         i++) {
        struct job *job = &run->jobs[run->order[i]];
        if (job->status == JOB_TODO && !try_start(run, job, &blocked, error))
            return false;
    }
    /* jobs at the front that have ended need not be looked at again */
    unsigned ended = 0;
    while (ended < run->order_count && run->jobs[run->order[ended]].status == JOB_ENDED)
        ended++;
    run->order += ended;
    run->order_count -= ended;
    return true;
}

/* ---- ending -----------------------------------------------------------------------------------
 */

static void keep_wall(struct run *run, const struct host *host, double wall_ms)
{
    gpointer experiment = (gpointer)(uintptr_t)host->running.item->cell->experiment;
    GArray *walls = g_hash_table_lookup(run->wall_by_experiment, experiment);
    if (!walls) {
        walls = g_array_new(FALSE, FALSE, sizeof(double));
        g_hash_table_insert(run->wall_by_experiment, experiment, walls);
    }
    double seconds = wall_ms / 1e3;
    g_array_append_val(walls, seconds);
}

/* What a host that died without a verdict had to say. */
static void add_host_error(const struct host *host, struct orch_collected *collected)
{
    g_autofree char *path = g_build_filename(host->running.trial_dir, "host.stderr", NULL);
    g_autofree char *text = NULL;
    if (collected->verdict == ORCH_VERDICT_LOST && orch_file_read(path, 65536, &text, NULL, NULL) &&
        *g_strstrip(text)) {
        g_free(collected->reason);
        collected->reason = g_strdup(text);
    }
}

static void count_end(struct run *run, struct job *job, const struct orch_collected *collected)
{
    run->totals.ended[collected->verdict]++;
    job->status = JOB_ENDED;
    job->well = orch_verdict_facts(collected->verdict)->spares;
    if (run->options->fail_fast && orch_verdict_facts(collected->verdict)->fault)
        run->failed_fast = true;
}

static bool end_host(struct run *run, struct host *host, GError **error)
{
    struct job *job = host->job;
    struct orch_plan_item *item = &run->plan->items[job->index];
    struct orch_collected collected = {0};
    if (!orch_collect(run->plan->store, host->running.key, host->running.trial_dir, host->record,
                      host->running.started_ns, &collected, error))
        return false;
    add_host_error(host, &collected);
    run->ended_device_s += collected.wall_ms / 1e3 * orch_plan_item_devices(item);
    if (collected.verdict == ORCH_VERDICT_LOST)
        orch_kill_strays(host->running.key);
    run->unsynced = true;
    g_free(item->run_key);
    item->run_key = g_strdup(host->running.key);
    bool again = orch_verdict_facts(collected.verdict)->retried && !run->stop_level &&
                 job->tries < item->cell->experiment->retries;
    if (again) {
        job->tries++;
        job->status = JOB_TODO;
        run->totals.retried++;
    } else {
        count_end(run, job, &collected);
        if (job->well) {
            item->state = ORCH_PLAN_DONE;
            keep_wall(run, host, collected.wall_ms);
        }
        const struct orch_forecaster *forecaster = run->options->forecaster;
        if (collected.verdict == ORCH_VERDICT_OK && forecaster && forecaster->ended)
            forecaster->ended(forecaster->ctx, item, collected.wall_ms / 1e3);
    }
    if (run->listener->ended)
        run->listener->ended(run->listener->ctx, &host->running, &collected, again, &run->totals);
    orch_collected_clear(&collected);
    return true;
}

/* Moves hosts that are gone to `ended`: their slots are free at once, and the next trials start
 * before the journals are read, so that the one does not wait for the other. */
static void reap(struct run *run)
{
    for (guint i = 0; i < run->hosts->len;) {
        struct host *host = run->hosts->pdata[i];
        int status;
        pid_t pid = waitpid(host->pid, &status, WNOHANG);
        if (pid == 0 || (pid < 0 && errno == EINTR)) {
            i++;
            continue;
        }
        g_ptr_array_add(run->ended, g_ptr_array_steal_index(run->hosts, i));
    }
}

static bool collect_ended(struct run *run, GError **error)
{
    while (run->ended->len) {
        bool ok = end_host(run, run->ended->pdata[0], error);
        g_ptr_array_remove_index(run->ended, 0);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- stopping ---------------------------------------------------------------------------------
 */

static void cancel_running(struct run *run, int signal_number)
{
    static const char line[] = "{\"do\":\"cancel\"}\n";
    for (guint i = 0; i < run->hosts->len; i++) {
        struct host *host = run->hosts->pdata[i];
        if (signal_number == SIGTERM)
            kill(host->pid, SIGTERM);
        else if (!host->cancelled && write(host->stdin_fd, line, sizeof line - 1) < 0)
            kill(host->pid, SIGTERM);
        host->cancelled = true;
    }
}

/* At the limit itself what runs is cancelled: it is recorded as such, and can be run again. */
static void heed_limits(struct run *run)
{
    if (!run->options->limits || run->stop_level >= 2 || !run->hosts->len)
        return;
    struct orch_usage usage = usage_of(run);
    enum orch_limit limit = orch_limits_reached(run->options->limits, &usage, orch_now_ns());
    if (limit == ORCH_LIMIT_NONE)
        return;
    run->stop_level = 2;
    run->totals.limit = limit;
    run->totals.cut_off = run->hosts->len;
    say(run, "the %s: %u running trial%s cancelled",
        limit == ORCH_LIMIT_BUDGET ? "budget is spent" : "deadline has come", run->hosts->len,
        run->hosts->len == 1 ? " is" : "s are");
    cancel_running(run, SIGINT);
}

static void take_signals(struct run *run)
{
    struct signalfd_siginfo info;
    while (read(run->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP) {
            run->stop_level = 2;
            run->totals.terminated = true;
            cancel_running(run, SIGTERM);
            continue;
        }
        run->totals.interrupted = true;
        run->stop_level++;
        if (run->stop_level == 1 && run->hosts->len)
            say(run,
                "starting nothing more; %u running trial%s may finish. Ctrl-C again stops %s now",
                run->hosts->len, run->hosts->len == 1 ? "" : "s",
                run->hosts->len == 1 ? "it" : "them");
        else if (run->stop_level >= 2)
            cancel_running(run, SIGINT);
    }
}

/* ---- looking at what runs ---------------------------------------------------------------------
 */

/* Points that are kept; beyond, every other one goes. */
#define POINTS_MAX 4096

void orch_running_add(GArray *points, const struct orch_event *event, double *inout_total)
{
    struct orch_running_point point = {event->t_ms / 1e3, event->value};
    const struct orch_running_point *last =
        points->len ? &g_array_index(points, struct orch_running_point, points->len - 1) : NULL;
    if (!isfinite(point.t_s) || !isfinite(point.done) || (last && point.t_s <= last->t_s))
        return;
    if (last &&
        (point.done < last->done || event->total < *inout_total || event->total > *inout_total))
        g_array_set_size(points, 0);
    *inout_total = event->total;
    if (points->len >= POINTS_MAX) {
        for (guint i = 0; i < points->len / 2; i++)
            g_array_index(points, struct orch_running_point, i) =
                g_array_index(points, struct orch_running_point, 2 * i + 1);
        g_array_set_size(points, points->len / 2);
    }
    g_array_append_val(points, point);
}

static void look_at(struct orch_running *running)
{
    g_autofree char *path = g_build_filename(running->trial_dir, "journal", NULL);
    struct orch_journal *journal = orch_journal_open(path, NULL);
    if (!journal)
        return;
    orch_journal_seek_tail(journal, 32768);
    struct orch_event event;
    while (orch_journal_next(journal, &event, NULL)) {
        if (event.kind == ORCH_EVENT_PROGRESS) {
            if (!running->points)
                running->points = g_array_new(FALSE, FALSE, sizeof(struct orch_running_point));
            running->done = event.value;
            orch_running_add(running->points, &event, &running->total);
            running->total = event.total;
        } else if (event.kind == ORCH_EVENT_PHASE) {
            g_strlcpy(running->phase, event.name, sizeof running->phase);
        } else if (event.kind == ORCH_EVENT_METRICS && event.point_count) {
            const struct orch_point *last = &event.points[event.point_count - 1];
            g_strlcpy(running->metric, last->name, sizeof running->metric);
            running->value = last->value;
        }
        orch_event_clear(&event);
    }
    orch_journal_close(journal);
}

/* Seconds that a trial of the experiment takes: the median of those that ended, else what a running
 * one's progress says; NAN when nothing is known. */
static double expected_s(struct run *run, const struct orch_experiment *experiment)
{
    GArray *walls = g_hash_table_lookup(run->wall_by_experiment, experiment);
    if (walls && walls->len) {
        orch_reals_sort((double *)(void *)walls->data, walls->len);
        return g_array_index(walls, double, walls->len / 2);
    }
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct orch_running *running = run->hosts->pdata[i];
        double elapsed = (double)(orch_mono_ns() - running->started_mono_ns) / 1e9;
        if (running->item->cell->experiment == experiment && running->total > 0 &&
            running->done > 0)
            return elapsed * running->total / running->done;
    }
    return NAN;
}

/* Seconds that a running trial still takes: by its own pace, else its forecast, else what others of
 * its experiment took. */
static double left_of(struct run *run, const struct orch_running *running)
{
    double elapsed = (double)(orch_mono_ns() - running->started_mono_ns) / 1e9;
    const GArray *points = running->points;
    if (points && points->len > 1 && running->total > running->done) {
        const struct orch_running_point *first =
                                            &g_array_index(points, struct orch_running_point, 0),
                                        *last = &g_array_index(points, struct orch_running_point,
                                                               points->len - 1);
        if (last->done > first->done)
            return (running->total - last->done) * (last->t_s - first->t_s) /
                       (last->done - first->done) -
                   (elapsed - last->t_s);
    }
    if (running->has_forecast)
        return running->forecast_p50_s - elapsed;
    return expected_s(run, running->item->cell->experiment) - elapsed;
}

static double estimate(struct run *run)
{
    double total = 0;
    for (unsigned i = 0; i < run->order_count; i++) {
        const struct job *job = &run->jobs[run->order[i]];
        const struct orch_plan_item *item = &run->plan->items[job->index];
        struct orch_forecast forecast;
        if (job->status == JOB_TODO)
            total += forecast_of(run, item, &forecast) ? forecast.p50_s
                                                       : expected_s(run, item->cell->experiment);
    }
    total /= run->options->slots;
    double longest = 0;
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct orch_running *running = run->hosts->pdata[i];
        double left = left_of(run, running);
        longest = isnan(left) ? left : MAX(longest, MAX(0.0, left));
    }
    return total + longest / (run->options->slots > 1 ? 2 : 1);
}

static void tick(struct run *run)
{
    int64_t now = orch_mono_ns();
    if (!run->options->live || !run->listener->tick || now - run->last_tick_ns < 100000000)
        return;
    run->last_tick_ns = now;
    for (guint i = 0; i < run->hosts->len; i++)
        look_at(run->hosts->pdata[i]);
    run->totals.eta_s = estimate(run);
    run->listener->tick(run->listener->ctx, (const struct orch_running *const *)run->hosts->pdata,
                        run->hosts->len, &run->totals);
}

static bool sync_store(struct run *run, GError **error)
{
    int64_t now = orch_mono_ns();
    if (!run->unsynced || now - run->last_sync_ns < 1000000000)
        return true;
    run->last_sync_ns = now;
    run->unsynced = false;
    return orch_store_sync(run->plan->store, error);
}

/* Trials that another process has claimed: closed if that one died, tried again otherwise. */
static bool look_at_held(struct run *run, bool *out_held, GError **error)
{
    *out_held = false;
    for (unsigned i = 0; i < run->order_count; i++)
        *out_held = *out_held || run->jobs[run->order[i]].status == JOB_HELD;
    int64_t now = orch_mono_ns();
    if (!*out_held || now - run->last_held_ns < 200000000)
        return true;
    run->last_held_ns = now;
    unsigned closed, pending;
    if (!orch_recover(run->plan->store, &closed, &pending, error))
        return false;
    for (unsigned i = 0; i < run->order_count; i++)
        if (run->jobs[run->order[i]].status == JOB_HELD)
            run->jobs[run->order[i]].status = JOB_TODO;
    return true;
}

/* ---- the loop ---------------------------------------------------------------------------------
 */

static void wait_for_something(struct run *run, bool held)
{
    guint count = run->hosts->len;
    g_autofree struct pollfd *fds = g_new0(struct pollfd, count + 1);
    int timeout = held ? 200 : run->options->live || run->options->limits ? 100 : 1000;
    for (guint i = 0; i < count; i++) {
        const struct host *host = run->hosts->pdata[i];
        fds[i] = (struct pollfd){.fd = host->pidfd, .events = POLLIN};
        if (host->pidfd < 0)
            timeout = 10;
    }
    fds[count] = (struct pollfd){.fd = run->signal_fd, .events = POLLIN};
    poll(fds, count + 1, timeout);
    if (fds[count].revents)
        take_signals(run);
}

static bool has_todo(const struct run *run)
{
    for (unsigned i = 0; i < run->order_count; i++)
        if (run->jobs[run->order[i]].status == JOB_TODO ||
            run->jobs[run->order[i]].status == JOB_HELD)
            return true;
    return false;
}

static bool loop(struct run *run, GError **error)
{
    bool held = false;
    for (;;) {
        if (run->collects_first && !collect_ended(run, error))
            return false;
        bool stopping = run->stop_level || run->failed_fast;
        if (!stopping && (!start_what_fits(run, error) || !look_at_held(run, &held, error)))
            return false;
        bool collected = run->ended->len > 0; /* others may have waited for them */
        if (!collect_ended(run, error) || !sync_store(run, error))
            return false;
        if (!run->hosts->len && (stopping || !has_todo(run)))
            return true;
        if (!run->hosts->len && run->refused && !collected && !held)
            return true; /* a limit keeps back all that is left */
        if (run->hosts->len || !collected)
            wait_for_something(run, held && !stopping);
        reap(run);
        heed_limits(run);
        tick(run);
    }
}

static int compare_order(const void *a, const void *b, void *ctx)
{
    const struct orch_plan *plan = ctx;
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    int p = plan->items[x].cell->repeat, q = plan->items[y].cell->repeat;
    return p != q ? p - q : (x > y) - (x < y);
}

static bool has_timing(const struct orch_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (orch_experiment_is_timing(plan->items[i].cell->experiment))
            return true;
    return false;
}

static void make_jobs(struct run *run)
{
    struct orch_plan *plan = run->plan;
    for (unsigned i = 0; i < plan->count; i++) {
        struct job *job = &run->jobs[i];
        enum orch_plan_state state = plan->items[i].state;
        job->index = i;
        if (state == ORCH_PLAN_DONE || state == ORCH_PLAN_SKIPPED || state == ORCH_PLAN_UNUSED) {
            job->status = JOB_ENDED;
            job->well = state != ORCH_PLAN_SKIPPED;
        } else {
            run->order[run->order_count++] = i;
        }
        run->totals.planned += state != ORCH_PLAN_UNUSED;
        run->totals.spared += state == ORCH_PLAN_DONE;
        run->totals.skipped += state == ORCH_PLAN_SKIPPED;
    }
    g_qsort_with_data(run->order, (int)run->order_count, sizeof *run->order, compare_order, plan);
}

/* On an error: hosts still run; they are told to stop, and are collected where the store allows it,
 * else by the next command. */
static void abandon_hosts(struct run *run)
{
    cancel_running(run, SIGINT);
    run->stop_level = 2; /* nothing is tried again */
    while (run->hosts->len) {
        int status;
        const struct host *host = run->hosts->pdata[0];
        while (waitpid(host->pid, &status, 0) < 0 && errno == EINTR)
            ;
        g_ptr_array_add(run->ended, g_ptr_array_steal_index(run->hosts, 0));
    }
    if (collect_ended(run, NULL))
        orch_store_sync(run->plan->store, NULL);
}

static void finish_totals(struct run *run)
{
    struct orch_totals *totals = &run->totals;
    unsigned left = 0;
    for (unsigned i = 0; i < run->order_count; i++)
        left += run->jobs[run->order[i]].status != JOB_ENDED;
    totals->not_run += left;
    totals->device_s = run->ended_device_s;
    if (totals->interrupted || totals->terminated || run->failed_fast ||
        (!left && !totals->cut_off))
        totals->limit =
            ORCH_LIMIT_NONE; /* what was kept back for a while has run, or others stop */
    else if (totals->limit != ORCH_LIMIT_NONE)
        totals->held_back = left;
}

bool orch_run_plan(struct orch_plan *plan, const struct orch_run_options *options,
                   const struct orch_listener *listener, struct orch_totals *out_totals,
                   GError **error)
{
    struct run run = {.plan = plan, .options = options, .listener = listener};
    run.host_program = orch_program_path("orch-host", error);
    if (!run.host_program)
        return false;
    orch_process_get(getpid(), &run.self);
    run.jobs = g_new0(struct job, plan->count + 1);
    unsigned *order = g_new0(unsigned, plan->count + 1);
    run.order = order;
    run.hosts = g_ptr_array_new_with_free_func(host_free);
    run.ended = g_ptr_array_new_with_free_func(host_free);
    run.collects_first = options->fail_fast || has_timing(plan);
    run.plugin_files = g_array_new(FALSE, FALSE, sizeof(struct plugin_file));
    run.wall_by_experiment = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    run.totals.eta_s = NAN;
    make_jobs(&run);
    sigset_t handled, before;
    sigemptyset(&handled);
    sigaddset(&handled, SIGINT);
    sigaddset(&handled, SIGTERM);
    sigaddset(&handled, SIGHUP);
    sigprocmask(SIG_BLOCK, &handled, &before);
    run.signal_fd = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
    bool ok = loop(&run, error);
    if (!ok)
        abandon_hosts(&run);
    else
        ok = orch_store_sync(plan->store, error);
    finish_totals(&run);
    if (run.signal_fd >= 0)
        close(run.signal_fd);
    sigprocmask(SIG_SETMASK, &before, NULL);
    *out_totals = run.totals;
    g_ptr_array_unref(run.hosts);
    g_ptr_array_unref(run.ended);
    g_array_unref(run.plugin_files);
    g_hash_table_unref(run.wall_by_experiment);
    g_free(run.jobs);
    g_free(order);
    g_free(run.host_program);
    return ok;
}
