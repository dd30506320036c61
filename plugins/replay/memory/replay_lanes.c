/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making a buffer, and adding steps to its lanes. */
#include "plugins/replay/memory/replay_private.h"

#include "lib/base/error.h"
#include "lib/base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LANES_MAX = 4096, STACK_MAX = 64, N_STEP_MAX = 64 };
#define PLACES_MAX (INT64_C(1) << 31)

/* ---- options -----------------------------------------------------------------------------------
 */

static bool check_options(const struct orch_replay_options *o, GError **error)
{
    const struct {
        const char *name;
        double value, least, most;
    } ranges[] = {
        {"lanes", o->lanes, 1, LANES_MAX},
        {"capacity", (double)o->capacity, 2.0 * o->lanes, (double)PLACES_MAX - 1},
        {"frame_values", (double)o->frame_values, 1, 1 << 30},
        {"stack", o->stack, 1, STACK_MAX},
        {"n_step", o->n_step, 1, N_STEP_MAX},
        {"gamma", o->gamma, 0, 1},
        {"alpha", o->alpha, 0, 100},
        {"epsilon", o->epsilon, 0, 1e6},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++)
        if (!(ranges[i].value >= ranges[i].least && ranges[i].value <= ranges[i].most)) {
            orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                           "replay buffer: %s %g is not in the range %g to %g", ranges[i].name,
                           ranges[i].value, ranges[i].least, ranges[i].most);
            return false;
        }
    if (o->capacity / o->lanes > o->n_step + o->stack + 1)
        return true;
    orch_error_set(
        error, ORCH_ERROR_RECIPE, "use a larger 'capacity'",
        "replay buffer: %" G_GINT64_FORMAT
        " records of %d environments are too few for returns of %d steps with states of %d frames",
        o->capacity, o->lanes, o->n_step, o->stack);
    return false;
}

static int64_t round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

static void lay_out(struct orch_replay *r)
{
    const struct orch_replay_options *o = &r->options;
    r->lane_capacity = o->capacity / o->lanes;
    r->frame_bytes = o->frame_values * (o->is_bytes ? 1 : (int64_t)sizeof(float));
    r->step_offset = round_up(r->frame_bytes, 4);
    r->record_bytes = round_up(r->step_offset + (int64_t)sizeof(struct replay_step), 8);
    r->memory_bytes = (size_t)(r->record_bytes * r->lane_capacity * o->lanes);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static int64_t free_memory(void)
{
    char line[256];
    long long kib = -1;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lld kB", &kib) != 1)
            kib = -1;
    if (file)
        fclose(file);
    return kib < 0 ? INT64_MAX : (int64_t)kib * 1024;
}

static int open_file(const char *path, size_t bytes, GError **error)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const int code = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
    if (code == 0)
        return fd;
    orch_error_set(error, ORCH_ERROR_IO, code == ENOSPC ? "use a smaller capacity" : NULL,
                   "replay buffer: cannot make '%s' of %zu bytes: %s", path, bytes,
                   g_strerror(code));
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool map_records(struct orch_replay *r, GError **error)
{
    const bool is_file = r->options.file;
    const int64_t there = free_memory();
    if (!is_file && (int64_t)r->memory_bytes > there) {
        g_autofree char *needed = g_format_size(r->memory_bytes);
        g_autofree char *left = g_format_size((guint64)there);
        orch_error_set(error, ORCH_ERROR_RECIPE, "use a smaller 'capacity'",
                       "replay buffer: %" G_GINT64_FORMAT
                       " records need %s, but only %s of memory are free",
                       r->options.capacity, needed, left);
        return false;
    }
    const int fd = is_file ? open_file(r->options.file, r->memory_bytes, error) : -1;
    if (is_file && fd < 0)
        return false;
    void *memory = mmap(NULL, r->memory_bytes, PROT_READ | PROT_WRITE,
                        is_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
    if (fd >= 0)
        close(fd);
    if (memory == MAP_FAILED) {
        orch_error_set(error, ORCH_ERROR_IO, "use a smaller capacity",
                       "replay buffer: cannot map %zu bytes: %s", r->memory_bytes,
                       g_strerror(errno));
        return false;
    }
    if (!is_file)
        madvise(memory, r->memory_bytes, MADV_HUGEPAGE); /* records are drawn at random */
    r->memory = memory;
    return true;
}

static bool make_tree(struct orch_replay *r, GError **error)
{
    const int64_t places = r->lane_capacity * r->options.lanes;
    if (r->options.sampling == ORCH_REPLAY_UNIFORM)
        return true;
    r->tree = orch_sum_tree_new(places);
    if (!r->tree) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "use a smaller capacity",
                       "replay buffer: no memory for %" G_GINT64_FORMAT " priorities", places);
        return false;
    }
    r->largest = 1;
    if (r->options.sampling == ORCH_REPLAY_RANK)
        r->ranks = orch_replay_ranks_new(places);
    return true;
}

struct orch_replay *orch_replay_new(const struct orch_replay_options *options, GError **error)
{
    if (!check_options(options, error))
        return NULL;
    struct orch_replay *r = g_new0(struct orch_replay, 1);
    r->options = *options;
    r->options.file = r->file = g_strdup(options->file);
    r->random = orch_random_stream(options->seed, 0);
    lay_out(r);
    r->views = g_new0(struct replay_view, options->lanes);
    r->until = g_new0(int64_t, options->lanes);
    r->lanes = aligned_alloc(64, sizeof *r->lanes * (size_t)options->lanes);
    g_assert(r->lanes);
    memset(r->lanes, 0, sizeof *r->lanes * (size_t)options->lanes);
    for (int i = 0; i < options->lanes; i++)
        pthread_mutex_init(&r->lanes[i].lock, NULL);
    if (!map_records(r, error) || !make_tree(r, error)) {
        orch_replay_free(r);
        return NULL;
    }
    for (int i = 0; i < options->lanes; i++)
        r->lanes[i].records = r->memory + i * r->lane_capacity * r->record_bytes;
    return r;
}

void orch_replay_free(struct orch_replay *r)
{
    if (!r)
        return;
    if (r->memory)
        munmap(r->memory, r->memory_bytes);
    for (int i = 0; i < r->options.lanes; i++)
        pthread_mutex_destroy(&r->lanes[i].lock);
    free(r->lanes);
    orch_sum_tree_free(r->tree);
    orch_replay_ranks_free(r->ranks);
    g_free(r->views);
    g_free(r->until);
    g_free(r->slots);
    g_free(r->draws);
    g_free(r->file);
    g_free(r);
}

int64_t orch_replay_bytes(const struct orch_replay *r)
{
    const int64_t places = r->lane_capacity * r->options.lanes;
    return (int64_t)r->memory_bytes + (r->tree ? places * (int64_t)sizeof(float) * 17 / 16 : 0);
}

/* ---- adding ------------------------------------------------------------------------------------
 */

static bool refuse(GError **error, int lane, int64_t i, const char *what)
{
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                   "replay buffer: step %" G_GINT64_FORMAT " of environment %d %s", i, lane, what);
    return false;
}

static bool check_numbers(const struct orch_replay_steps *s, int lane, GError **error)
{
    for (int64_t i = 0; i < s->count; i++)
        if (!isfinite(s->rewards[i]))
            return refuse(error, lane, i, "has a reward that is not finite");
    for (int64_t i = 0; s->priorities && i < s->count; i++)
        if (!(isfinite(s->priorities[i]) && s->priorities[i] >= 0))
            return refuse(error, lane, i, "has a priority that is negative or not finite");
    return true;
}

static bool check_ends(const struct orch_replay_steps *s, int lane, uint32_t last, GError **error)
{
    for (int64_t i = 0; i < s->count; i++) {
        const uint32_t end = s->ends ? s->ends[i] : ORCH_REPLAY_GOES_ON;
        if (end > ORCH_REPLAY_FINAL)
            return refuse(error, lane, i, "has an unknown end");
        if ((end == ORCH_REPLAY_FINAL) != (last == ORCH_REPLAY_TRUNCATED))
            return refuse(error, lane, i,
                          end == ORCH_REPLAY_FINAL
                              ? "is a final frame, but the step before it was not truncated"
                              : "must be the final frame of the truncated step before it");
        last = end;
    }
    return true;
}

/* Frames of few sizes are copied by instructions instead of a call. */
static inline void copy_frame(void *to, const void *from, int64_t bytes)
{
    if (bytes == 16)
        memcpy(to, from, 16);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, (size_t)bytes);
}

static void write_record(struct orch_replay *r, struct replay_lane *l,
                         const struct orch_replay_steps *s, int64_t i)
{
    uint8_t *record = l->records + l->head_slot * r->record_bytes;
    struct replay_step *step = orch_replay_step_of(r, record);
    const uint32_t end = s->ends ? s->ends[i] : ORCH_REPLAY_GOES_ON;
    if (l->head >= r->lane_capacity && step->end == ORCH_REPLAY_FINAL)
        l->finals--;
    copy_frame(record, (const uint8_t *)s->frames + i * r->frame_bytes, r->frame_bytes);
    *step = (struct replay_step){s->actions[i], s->rewards[i],
                                 s->priorities ? s->priorities[i] : (float)NAN, end};
    l->head++;
    if (++l->head_slot == r->lane_capacity)
        l->head_slot = 0;
    if (end == ORCH_REPLAY_FINAL)
        l->finals++;
    if (end == ORCH_REPLAY_FINAL || end == ORCH_REPLAY_TERMINATED)
        l->closed = l->head;
}

bool orch_replay_add(struct orch_replay *r, int lane, const struct orch_replay_steps *s,
                     GError **error)
{
    if (lane < 0 || lane >= r->options.lanes || s->count > r->lane_capacity) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                       "replay buffer: %" G_GINT64_FORMAT
                       " steps are too many: environment %d of %d holds %" G_GINT64_FORMAT,
                       s->count, lane, r->options.lanes, r->lane_capacity);
        return false;
    }
    struct replay_lane *l = &r->lanes[lane];
    if (!check_numbers(s, lane, error))
        return false;
    pthread_mutex_lock(&l->lock);
    const bool ok = check_ends(s, lane, l->last_end, error);
    if (ok && s->count > 0) {
        for (int64_t i = 0; i < s->count; i++)
            write_record(r, l, s, i);
        l->last_end = s->ends ? s->ends[s->count - 1] : ORCH_REPLAY_GOES_ON;
    }
    pthread_mutex_unlock(&l->lock);
    return ok;
}
