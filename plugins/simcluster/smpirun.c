/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/simcluster/smpirun.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/program_parts.h"
#include "lib/base/program_path.h"
#include "lib/base/spawn.h"
#include "lib/base/text.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOSTS_FILE "hosts.txt"
#define PLAN_FILE "plan.txt"
#define OUTPUT_FILE "simulation.out"
#define LOG_FILE "simulation.log"
#define OUTPUT_BYTES_MAX (256 << 20)
#define POLL_US 5000
#define STACK_KIB 128 /* of a rank; 8 MiB each is the default */
/* Above so many bytes of buffers of all ranks together, messages are scaled down. */
#define BUFFER_BYTES_MAX (256.0 * 1024 * 1024)
#define WHOLE_BYTES_MAX (4096.0 * 1024 * 1024) /* and this is refused */
#define SEGMENT_BYTES (1024.0 * 1024)          /* of ompi_ring_segmented */
#define EAGER_BYTES 65536 /* SMPI's smpi/send-is-detached-thresh: shorter sends do not wait */

/* The numbers of a platform file are meant as they stand: SimGrid's factors, which were fitted to
 * TCP over Ethernet, are off (as the factor of bandwidths, which scale_of sets), a flow in one
 * direction does not slow down the other, and there is no TCP window. */
static const char *const MODEL[] = {
    "--cfg=network/model:CM02",      "--cfg=network/latency-factor:1.0",
    "--cfg=network/weight-S:0.0",    "--cfg=network/TCP-gamma:0",
    "--cfg=network/crosstraffic:no", "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/privatization:no",   "--cfg=smpi/display-timing:no",
    "--cfg=smpi/host-speed:1Gf",     "--log=root.thresh:warning",
};

static double largest_bucket(const struct simulation *s)
{
    double most = 0;
    for (guint i = 0; i < s->plan->buckets->len; i++)
        most = MAX(most, (double)g_array_index(s->plan->buckets, struct sim_bucket, i).bytes);
    return most;
}

/* True where the algorithm does something else for messages of another size. */
static bool depends_on_bytes(const struct simulation *s)
{
    if (g_strcmp0(s->algorithm->smpi, "ompi_ring_segmented") == 0)
        return largest_bucket(s) > SEGMENT_BYTES * s->places->len;
    return !s->algorithm->smpi && !s->algorithm->is_hierarchical;
}

/* A factor by which the bytes of messages and the bandwidths are divided, so that the ranks'
 * buffers fit: the times are the same. */
static int scale_of(const struct simulation *s)
{
    int scale = 1;
    if (depends_on_bytes(s))
        return scale;
    while (largest_bucket(s) * s->places->len / scale > BUFFER_BYTES_MAX)
        scale *= 2;
    return scale;
}

static bool buffers_fit(const struct simulation *s, GError **error)
{
    double bytes = largest_bucket(s) * s->places->len / scale_of(s);
    if (bytes <= WHOLE_BYTES_MAX)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "choose another algorithm",
                   "algorithm: SimGrid needs %.0f GB of memory for '%s' among %u workers",
                   bytes / 1e9, s->algorithm->name, s->places->len);
    return false;
}

char *orch_simulation_missing(void)
{
    g_autofree char *smpirun = g_find_program_in_path("smpirun"),
                    *worker = orch_program_module("orch-smpi-worker");
    if (!smpirun)
        return g_strdup_printf("it needs SimGrid, and there is no smpirun on the PATH: %s",
                               orch_program_way(ORCH_PART_SIMGRID));
    if (!worker || access(worker, X_OK) != 0)
        return g_strdup_printf("this orch has no workers for SimGrid's smpirun, which is there: %s",
                               orch_program_way(ORCH_PART_SIMGRID));
    return NULL;
}

/* ---- files -------------------------------------------------------------------------------------
 */

static bool write_hosts(const struct simulation *s, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < s->places->len; i++) {
        guint at = g_array_index(s->places, guint, i);
        g_string_append_printf(text, "%s\n",
                               g_array_index(s->hosts, struct platform_host, at).name);
    }
    return g_file_set_contents(HOSTS_FILE, text->str, (gssize)text->len, error);
}

static void append_real(GString *text, double value)
{
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append(text, g_ascii_formatd(digits, sizeof digits, "%.9f", value));
}

static bool write_plan(const struct simulation *s, GError **error)
{
    const GArray *buckets = s->plan->buckets;
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "algorithm %s steps %" G_GINT64_FORMAT " overlap %d compute_s ",
                           s->algorithm->name, s->steps, s->overlap);
    append_real(text, s->plan->compute_s);
    g_string_append(text, " update_s ");
    append_real(text, s->plan->update_s);
    g_string_append_printf(text, "\nworkers %u buckets %u scale %d\n", s->places->len, buckets->len,
                           scale_of(s));
    for (guint i = 0; i < s->places->len; i++) {
        guint at = g_array_index(s->places, guint, i);
        g_string_append_printf(text, "%d\n",
                               g_array_index(s->hosts, struct platform_host, at).zone);
    }
    for (guint i = 0; i < buckets->len; i++) {
        const struct sim_bucket *bucket = &g_array_index(buckets, struct sim_bucket, i);
        append_real(text, bucket->ready_s);
        g_string_append_printf(text, " %" G_GINT64_FORMAT "\n", bucket->bytes);
    }
    return g_file_set_contents(PLAN_FILE, text->str, (gssize)text->len, error);
}

/* ---- the process -------------------------------------------------------------------------------
 */

static void add_choice(GPtrArray *words, const char *operation, const char *name)
{
    if (name)
        g_ptr_array_add(words, g_strdup_printf("--cfg=smpi/%s:%s", operation, name));
}

/* 'auto' is the decision that Open MPI makes by size and number of ranks, as SimGrid has it. The
 * hierarchical one is that of its formula: trees within a node, a ring of the leaders. */
static void add_algorithm(GPtrArray *words, const struct orch_comm_algorithm *algorithm)
{
    static const struct orch_comm_algorithm levels = {
        .smpi = "lr", .smpi_reduce = "binomial", .smpi_bcast = "binomial_tree"};
    const struct orch_comm_algorithm *names = algorithm->is_hierarchical ? &levels : algorithm;
    if (!names->smpi)
        g_ptr_array_add(words, g_strdup("--cfg=smpi/coll-selector:ompi"));
    add_choice(words, "allreduce", names->smpi);
    add_choice(words, "reduce", names->smpi_reduce);
    add_choice(words, "bcast", names->smpi_bcast);
}

static void add_real(GPtrArray *words, const char *option, double value)
{
    char digits[ORCH_REAL_CHARS];
    g_ptr_array_add(words, g_strdup_printf("--cfg=%s:%s", option, orch_real_format(value, digits)));
}

static GPtrArray *command(const struct simulation *s)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    const char *const head[] = {"smpirun", "-platform", s->platform, "-hostfile", HOSTS_FILE};
    for (guint i = 0; i < G_N_ELEMENTS(head); i++)
        g_ptr_array_add(words, g_strdup(head[i]));
    g_ptr_array_add(words, g_strdup("-np"));
    g_ptr_array_add(words, g_strdup_printf("%u", s->places->len));
    for (guint i = 0; i < G_N_ELEMENTS(MODEL); i++)
        g_ptr_array_add(words, g_strdup(MODEL[i]));
    g_ptr_array_add(words, g_strdup_printf("--cfg=contexts/stack-size:%d", STACK_KIB));
    add_real(words, "network/bandwidth-factor", 1.0 / scale_of(s));
    g_ptr_array_add(
        words, g_strdup_printf("--cfg=smpi/send-is-detached-thresh:%d", EAGER_BYTES / scale_of(s)));
    add_algorithm(words, s->algorithm);
    g_ptr_array_add(words, orch_program_module("orch-smpi-worker"));
    g_ptr_array_add(words, g_strdup(PLAN_FILE));
    g_ptr_array_add(words, NULL);
    return words;
}

static bool start(const struct simulation *s, pid_t *out, GError **error)
{
    g_autoptr(GPtrArray) words = command(s);
    int failed = orch_spawn(
        &(struct orch_spawn){
            .argv = (const char *const *)words->pdata,
            .files = {"/dev/null", OUTPUT_FILE, LOG_FILE},
            .file_mode = 0600,
        },
        out);
    if (failed)
        orch_error_set_errno(error, ORCH_ERROR_TRIAL, failed, "cannot start smpirun");
    return !failed;
}

/* Waits for the end of the process group's leader. A cancelled one is killed with its children. */
static enum simulation_end wait_for(const struct simulation *s, pid_t pid, int *out_status)
{
    for (;;) {
        pid_t ended = waitpid(pid, out_status, WNOHANG);
        if (ended == pid)
            return SIMULATION_OK;
        if (ended < 0 && errno != EINTR)
            return SIMULATION_FAILED;
        if (s->is_cancelled(s->context)) {
            kill(-pid, SIGKILL);
            waitpid(pid, out_status, 0);
            return SIMULATION_CANCELLED;
        }
        g_usleep(POLL_US);
    }
}

/* ---- the outcome -------------------------------------------------------------------------------
 */

struct rank_step { /* a line of one rank: times since the common start, in seconds */
    int64_t step;
    double end_s, busy_s, exposed_s;
};

static bool read_line(const char *line, struct rank_step *out)
{
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    return g_strv_length(words) == 5 && strcmp(words[0], "step") == 0 &&
           orch_int_parse(words[1], &out->step) && orch_real_parse(words[2], &out->end_s) &&
           orch_real_parse(words[3], &out->busy_s) && orch_real_parse(words[4], &out->exposed_s);
}

/* The ranks' lines as steps: a step ends with the last rank. */
static bool read_steps(const struct simulation *s, struct simulated_step *out)
{
    g_autofree char *text = NULL;
    int64_t found = 0;
    if (!orch_file_read(OUTPUT_FILE, OUTPUT_BYTES_MAX, &text, NULL, NULL))
        return false;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (int i = 0; lines[i]; i++) {
        struct rank_step line;
        if (!read_line(lines[i], &line) || line.step < 0 || line.step >= s->steps)
            continue;
        struct simulated_step *step = &out[line.step];
        step->step_s = MAX(step->step_s, line.end_s);
        step->busy_s += line.busy_s / s->places->len;
        step->exposed_s += line.exposed_s / s->places->len;
        found++;
    }
    for (int64_t i = s->steps - 1; i > 0; i--)
        out[i].step_s -= out[i - 1].step_s;
    return found == s->steps * s->places->len;
}

/* The part of SimGrid's log that says why it ended, or NULL: "FILE:LINE: what is wrong" of a
 * platform file, else its first error. */
static const char *reason_in(char *const *lines)
{
    static const char *const marks[] = {"Parse error at ", "ERROR] ", "CRITICAL] ", "what(): "};
    for (guint k = 0; k < G_N_ELEMENTS(marks); k++) {
        for (int i = 0; lines[i]; i++) {
            const char *found = strstr(lines[i], marks[k]);
            if (found)
                return found + strlen(marks[k]);
        }
    }
    return NULL;
}

static void set_error(const struct simulation *s, int status, GError **error)
{
    g_autofree char *text = NULL;
    orch_file_read(LOG_FILE, OUTPUT_BYTES_MAX, &text, NULL, NULL);
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
    g_auto(GStrv) last = orch_text_last_lines(text ? text : "", 1, 400);
    const char *reason = reason_in(lines);
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                   "the simulation on platform file '%s' ended with %s %d: %s", s->platform,
                   WIFSIGNALED(status) ? "signal" : "exit status",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                   reason    ? reason
                   : last[0] ? last[0]
                             : "the simulator gave no reason");
}

enum simulation_end orch_simulation_run(const struct simulation *s, struct simulated_step *out,
                                        GError **error)
{
    pid_t pid;
    int status = 0;
    if (!buffers_fit(s, error) || !write_hosts(s, error) || !write_plan(s, error) ||
        !start(s, &pid, error))
        return SIMULATION_FAILED;
    enum simulation_end end = wait_for(s, pid, &status);
    if (end == SIMULATION_CANCELLED)
        return end;
    if (end == SIMULATION_OK && status == 0 && read_steps(s, out))
        return SIMULATION_OK;
    set_error(s, status, error);
    return SIMULATION_FAILED;
}
