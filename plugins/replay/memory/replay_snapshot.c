/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A buffer in a file: a header with its shape, the counters of the lanes, their records, the
 * weights of the tree, with ranks the errors, and a SHA-256 of all that. Numbers are those of the
 * machine that wrote it.
 */
#include "plugins/replay/memory/replay_private.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/sha256.h"
#include "lib/base/temporary.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 1, DIGEST_BYTES = 32 };

struct header {
    char magic[8]; /* "orchrply" */
    int32_t version, byte_order;
    int64_t lanes, lane_capacity, frame_values, is_bytes, stack, n_step, sampling, record_bytes;
    float largest;
    int32_t unused;
    uint64_t random;
};

struct lane_counters {
    int64_t head, head_slot, closed, finals, expired, known, known_slot, last_end;
};

static struct header header_of(const struct orch_replay *r)
{
    const struct orch_replay_options *o = &r->options;
    return (struct header){.magic = {'o', 'r', 'c', 'h', 'r', 'p', 'l', 'y'},
                           .version = VERSION,
                           .byte_order = 0x01020304,
                           .lanes = o->lanes,
                           .lane_capacity = r->lane_capacity,
                           .frame_values = o->frame_values,
                           .is_bytes = o->is_bytes,
                           .stack = o->stack,
                           .n_step = o->n_step,
                           .sampling = o->sampling,
                           .record_bytes = r->record_bytes,
                           .largest = r->largest,
                           .random = r->random};
}

static int64_t places_of(const struct orch_replay *r)
{
    return r->lane_capacity * r->options.lanes;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

struct sink {
    FILE *file;
    struct orch_hash hash;
    bool ok;
};

static void put(struct sink *s, const void *bytes, size_t length)
{
    orch_hash_add(&s->hash, bytes, length);
    s->ok = s->ok && fwrite(bytes, 1, length, s->file) == length;
}

static void put_all(const struct orch_replay *r, struct sink *s)
{
    const struct header header = header_of(r);
    put(s, &header, sizeof header);
    for (int i = 0; i < r->options.lanes; i++) {
        const struct replay_lane *l = &r->lanes[i];
        const struct lane_counters c = {l->head,    l->head_slot, l->closed,     l->finals,
                                        l->expired, l->known,     l->known_slot, l->last_end};
        put(s, &c, sizeof c);
    }
    put(s, r->memory, r->memory_bytes);
    for (int64_t i = 0; r->tree && i < places_of(r); i++) {
        const float weight = orch_sum_tree_get(r->tree, i);
        put(s, &weight, sizeof weight);
    }
    if (r->ranks) {
        put(s, orch_replay_ranks_errors(r->ranks), (size_t)places_of(r) * sizeof(float));
        put(s, orch_replay_ranks_changes(r->ranks), sizeof(int64_t));
    }
}

bool orch_replay_save(struct orch_replay *r, const char *path, GError **error)
{
    g_autofree char *name = orch_temporary_name(path);
    struct sink s = {.file = fopen(name, "wbe"), .ok = true};
    uint8_t digest[DIGEST_BYTES];
    if (s.file) {
        orch_hash_begin(&s.hash);
        put_all(r, &s);
        orch_hash_end(&s.hash, digest);
        s.ok = s.ok && fwrite(digest, 1, sizeof digest, s.file) == sizeof digest &&
               fflush(s.file) == 0 && fsync(fileno(s.file)) == 0;
        s.ok = fclose(s.file) == 0 && s.ok;
    }
    if (s.file && s.ok && rename(name, path) == 0)
        return true;
    orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot write the replay buffer to '%s': %s", path,
                   g_strerror(errno));
    if (s.file)
        unlink(name);
    return false;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static bool refuse(GError **error, const char *path, const char *why)
{
    orch_error_set(error, ORCH_ERROR_CHECK, NULL, "cannot read the replay buffer '%s': %s", path,
                   why);
    return false;
}

static bool check_header(const struct orch_replay *r, const char *path, const struct header *h,
                         GError **error)
{
    const struct header own = header_of(r);
    const struct {
        const char *name;
        int64_t there, here;
    } shape[] = {
        {"lanes", h->lanes, own.lanes},
        {"records a lane", h->lane_capacity, own.lane_capacity},
        {"values a frame", h->frame_values, own.frame_values},
        {"bytes instead of floats", h->is_bytes, own.is_bytes},
        {"frames a state", h->stack, own.stack},
        {"steps a return", h->n_step, own.n_step},
        {"kind of sampling", h->sampling, own.sampling},
        {"bytes a record", h->record_bytes, own.record_bytes},
    };
    if (memcmp(h->magic, own.magic, sizeof own.magic) != 0)
        return refuse(error, path, "the file is not a snapshot of a replay buffer");
    if (h->version != own.version || h->byte_order != own.byte_order)
        return refuse(error, path,
                      "the file was written by another version, or on another machine");
    for (size_t i = 0; i < G_N_ELEMENTS(shape); i++)
        if (shape[i].there != shape[i].here) {
            orch_error_set(error, ORCH_ERROR_CHECK, NULL,
                           "cannot read the replay buffer '%s': %s: %" G_GINT64_FORMAT
                           " in the file, %" G_GINT64_FORMAT " here",
                           path, shape[i].name, shape[i].there, shape[i].here);
            return false;
        }
    return true;
}

/* Reads the file to its end and compares its digest with the last bytes. */
static bool check_digest(FILE *file, int64_t bytes)
{
    enum { PIECE = 1 << 20 };
    g_autofree uint8_t *piece = g_malloc(PIECE);
    uint8_t digest[DIGEST_BYTES], kept[DIGEST_BYTES];
    struct orch_hash hash;
    orch_hash_begin(&hash);
    for (int64_t left = bytes; left > 0;) {
        const size_t size = fread(piece, 1, (size_t)MIN(left, PIECE), file);
        if (size == 0)
            break;
        orch_hash_add(&hash, piece, size);
        left -= (int64_t)size;
    }
    orch_hash_end(&hash, digest);
    return fread(kept, 1, sizeof kept, file) == sizeof kept &&
           memcmp(digest, kept, sizeof kept) == 0 &&
           fseeko(file, sizeof(struct header), SEEK_SET) == 0;
}

static bool take(FILE *file, void *to, size_t length)
{
    return fread(to, 1, length, file) == length;
}

/* What was checked by its digest. */
static bool take_all(struct orch_replay *r, FILE *file)
{
    for (int i = 0; i < r->options.lanes; i++) {
        struct replay_lane *l = &r->lanes[i];
        struct lane_counters c;
        if (!take(file, &c, sizeof c))
            return false;
        l->head = c.head;
        l->head_slot = c.head_slot;
        l->closed = c.closed;
        l->finals = c.finals;
        l->last_end = (uint32_t)c.last_end;
        l->expired = c.expired;
        l->known = c.known;
        l->known_slot = c.known_slot;
    }
    if (!take(file, r->memory, r->memory_bytes))
        return false;
    for (int64_t i = 0; r->tree && i < places_of(r); i++) {
        float weight;
        if (!take(file, &weight, sizeof weight))
            return false;
        orch_sum_tree_set(r->tree, i, weight);
    }
    return !r->ranks ||
           (take(file, orch_replay_ranks_errors(r->ranks), (size_t)places_of(r) * sizeof(float)) &&
            take(file, orch_replay_ranks_changes(r->ranks), sizeof(int64_t)));
}

static bool load(struct orch_replay *r, const char *path, FILE *file, GError **error)
{
    const int64_t weights = r->tree ? places_of(r) * (int64_t)sizeof(float) : 0;
    const int64_t ranks = r->ranks ? weights + (int64_t)sizeof(int64_t) : 0;
    const int64_t bytes = (int64_t)sizeof(struct header) +
                          r->options.lanes * (int64_t)sizeof(struct lane_counters) +
                          (int64_t)r->memory_bytes + weights + ranks;
    struct header header;
    struct stat info;
    if (!take(file, &header, sizeof header))
        return refuse(error, path, "the file is not a snapshot of a replay buffer");
    if (!check_header(r, path, &header, error))
        return false;
    if (fstat(fileno(file), &info) != 0 || info.st_size != bytes + DIGEST_BYTES)
        return refuse(error, path, "the file is truncated");
    rewind(file);
    if (!check_digest(file, bytes))
        return refuse(error, path, "the file's bytes do not match its SHA-256");
    if (!take_all(r, file))
        return refuse(error, path, "the file changed while it was read");
    r->largest = header.largest;
    r->random = header.random;
    return true;
}

bool orch_replay_load(struct orch_replay *r, const char *path, GError **error)
{
    for (int i = 0; i < r->options.lanes; i++)
        if (r->lanes[i].head)
            return refuse(error, path, "this buffer is not empty");
    FILE *file = orch_file_open_stream(path, error);
    if (!file) {
        g_prefix_error(error, "cannot open the replay buffer: ");
        return false;
    }
    const bool ok = load(r, path, file, error);
    fclose(file);
    return ok;
}
