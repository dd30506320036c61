/* SPDX-License-Identifier: MIT */
/* What happens once a trial's main process has ended. At most the capacity of a pipe is read from
 * each pipe, because processes that it left may write on. */
#include "core/host/supervisor.h"

#include "core/host/ending.h"
#include "core/host/foreign_cpu.h"
#include "core/host/gpu_watch.h"
#include "core/host/logged_files.h"
#include "core/host/procs.h"
#include "core/host/ranks_ending.h"
#include "core/host/text_metrics.h"
#include "core/host/utilisation.h"
#include "lib/base/ident.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

enum { DRAIN_BYTES_MAX = 2 << 20 };
static const int64_t SECOND_NS = INT64_C(1000000000), STRAY_OWN_NS = INT64_C(500000000),
                     STRAY_GRACE_NS = INT64_C(500000000), STRAY_STEP_NS = INT64_C(5000000);

/* Reads the rest of the pipes, at most the capacity of a pipe. */
static void drain(struct supervisor *s)
{
    struct {
        int *fd;
        struct capture *capture;
    } streams[] = {{&s->child.stdout_fd, &s->output}, {&s->child.stderr_fd, &s->errors}};
    for (unsigned i = 0; i < G_N_ELEMENTS(streams); i++) {
        size_t total = 0, n = 1;
        while (*streams[i].fd >= 0 && n > 0 && total < DRAIN_BYTES_MAX)
            total += n = orch_supervisor_read_output(s, streams[i].fd, streams[i].capture);
    }
    for (size_t left = DRAIN_BYTES_MAX / ORCH_HOST_READ_BYTES; left > 0 && s->child.events_fd >= 0;
         left--) {
        struct pollfd events = {.fd = s->child.events_fd, .events = POLLIN};
        if (poll(&events, 1, 0) <= 0)
            break;
        orch_supervisor_read_events(s);
    }
    for (size_t left = DRAIN_BYTES_MAX / PIPE_BUF; left > 0 && orch_supervisor_read_join(s); left--)
        ;
}

static void sleep_ns(int64_t ns)
{
    struct timespec time = {ns / SECOND_NS, ns % SECOND_NS};
    nanosleep(&time, NULL);
}

/* Waits until the trial's remaining processes have ended by themselves, as helpers do that see the
 * main process end (Python's resource_tracker), and reads what they print. False: there are others
 * after that time. */
static bool await_leftovers(struct supervisor *s, int64_t patience_ns)
{
    int64_t until = orch_mono_ns() + patience_ns;
    while (orch_supervisor_reap(s)) {
        if (orch_mono_ns() >= until)
            return false;
        sleep_ns(STRAY_STEP_NS);
        drain(s);
    }
    drain(s);
    return true;
}

/* Signals the trial's remaining processes and waits until there are none or the time is over. */
static bool kill_leftovers(struct supervisor *s, int number, int64_t patience_ns)
{
    int64_t until = orch_mono_ns() + patience_ns;
    for (bool first = true; orch_supervisor_reap(s); first = false) {
        if (first || number == SIGKILL) {
            g_autoptr(GArray) procs = orch_procs_of_trial(s->trial->key);
            for (guint i = 0; first && number == SIGTERM && i < procs->len; i++) {
                const char *name = g_array_index(procs, struct proc, i).name;
                g_ptr_array_add(s->strays, g_utf8_make_valid(name, -1));
            }
            orch_procs_signal(procs, number);
        }
        if (orch_mono_ns() >= until)
            return false;
        sleep_ns(STRAY_STEP_NS);
    }
    return true;
}

/* Reads what ranks wrote before they ended. */
static void drain_ranks(struct supervisor *s)
{
    struct pollfd links = {.fd = orch_rank_links_fd(s->links), .events = POLLIN};
    for (int left = DRAIN_BYTES_MAX / ORCH_HOST_READ_BYTES; left > 0 && poll(&links, 1, 0) > 0;
         left--)
        orch_supervisor_read_ranks(s);
}

/* Returns the name of a GPU that was lost, or NULL, and makes its loss the reason of a trial that
 * ended badly. Caller frees. */
static char *end_gpu_watch(struct supervisor *s)
{
    char *name = NULL;
    bool is_bad = !WIFEXITED(s->wait_status) || WEXITSTATUS(s->wait_status);
    g_autofree char *loss = orch_gpu_watch_end(s->gpu_watch, is_bad, &s->out, &name);
    g_autofree char *reason = loss ? g_strdup_printf("a GPU was lost: %s", loss) : NULL;
    if (reason && is_bad)
        orch_stopping_set_reason(&s->stopping, ORCH_VERDICT_LOST, reason);
    return name;
}

void orch_supervisor_finish(struct supervisor *s)
{
    int64_t ended_mono_ns = orch_mono_ns(), ended_ns = orch_now_ns();
    orch_foreign_cpu_end(&s->foreign);
    g_autofree char *lost_gpu = end_gpu_watch(s);
    double sampling_cpu_s = orch_utilisation_end(s->utilisation, &s->out);
    drain(s);
    if (s->links) { /* before what is left of it is killed */
        drain_ranks(s);
        orch_ranks_judge(&(struct ranks_ending){s->links, s->trial->ranks, &s->intake, &s->stopping,
                                                &s->wait_status, &s->done_first});
    }
    bool is_stopped = s->stopping.stage != STOP_NOT;
    if (!await_leftovers(s, is_stopped ? 0 : STRAY_OWN_NS)) { /* some are still running */
        int64_t grace_ns = MIN(s->stopping.grace_ns, STRAY_GRACE_NS);
        if (!kill_leftovers(s, SIGTERM, s->stopping.stage == STOP_KILLED ? 0 : grace_ns))
            kill_leftovers(s, SIGKILL, 2 * SECOND_NS);
        drain(s);
    }
    double foreign_cpu =
        orch_foreign_cpu_share(&s->foreign, (double)(ended_mono_ns - s->start_ns) / 1e9);
    orch_text_metrics_finish(s->text_metrics);
    orch_logged_files_finish(s->logged); /* in the folder apart */
    g_free(orch_supervisor_take_alerts(s));
    orch_apart_leave(s->setup.apart);
    json_t *logged = orch_logged_files_paths(s->logged);
    orch_opened_files_write(s->setup.opened, s->setup.trial_dir, logged);
    json_decref(logged);
    bool was_broken = s->intake.problem != NULL;
    orch_intake_finish(&s->intake);
    if (!was_broken && WIFSIGNALED(s->wait_status))
        g_clear_pointer(&s->intake.problem, g_free); /* a crash may truncate a line */
    struct ending ending = {
        .setup = &s->setup,
        .intake = &s->intake,
        .stopping = &s->stopping,
        .output = &s->output,
        .errors = &s->errors,
        .done_first = s->done_first,
        .wait_status = s->wait_status,
        .started_ns = s->started_utc_ns,
        .ended_ns = ended_ns,
        .wall_ms = (double)(ended_mono_ns - s->start_ns) / 1e6,
        .memory_bytes = s->memory_bytes,
        .logged = s->logged,
        .losses = orch_text_metrics_losses(s->text_metrics),
        .foreign_cpu = foreign_cpu,
        .sampling_cpu_s = sampling_cpu_s,
        .lost_gpu = lost_gpu,
        .old_files = s->old_files,
        .strays = s->strays,
    };
    orch_ending_write(&ending, &s->out);
}
