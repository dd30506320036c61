/* SPDX-License-Identifier: MIT */
/* An anonymous file that the trial's processes open through /proc. */
#include "lib/watch/watch_memory.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct orch_watch_memory {
    int fd;
    char *path; /* by which other processes open it */
    struct orch_watch_map *map;
    uint64_t unwatched; /* roots for which there was no room */
};

/* Returns the number of those for which there was no room. */
static uint64_t fill_roots(struct orch_watch_map *map, const GPtrArray *roots)
{
    uint64_t left_out = 0;
    size_t at = 0;
    for (guint i = 0; i < roots->len; i++) {
        size_t bytes = strlen(roots->pdata[i]) + 1;
        if (bytes < 2 || at + bytes >= sizeof map->roots) {
            left_out++;
            continue;
        }
        memcpy(map->roots + at, roots->pdata[i], bytes);
        at += bytes;
    }
    return left_out;
}

struct orch_watch_memory *orch_watch_memory_new(const GPtrArray *roots)
{
    int fd = memfd_create("orch-watch", MFD_CLOEXEC);
    void *map = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof(struct orch_watch_map)) == 0)
        map = mmap(NULL, sizeof(struct orch_watch_map), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct orch_watch_memory *memory = g_new0(struct orch_watch_memory, 1);
    memory->fd = fd;
    memory->map = map;
    memory->path = g_strdup_printf("/proc/%d/fd/%d", (int)getpid(), fd);
    memory->unwatched = fill_roots(map, roots);
    memory->map->magic = ORCH_WATCH_MAGIC;
    return memory;
}

void orch_watch_memory_free(struct orch_watch_memory *memory)
{
    if (!memory)
        return;
    munmap(memory->map, sizeof *memory->map);
    close(memory->fd);
    g_free(memory->path);
    g_free(memory);
}

char **orch_watch_memory_environment(const struct orch_watch_memory *memory, char **env)
{
    return g_environ_setenv(env, ORCH_WATCH_ENV, memory->path, TRUE);
}

char **orch_watch_library_environment(const char *library, char **env)
{
    const char *before = g_environ_getenv(env, "LD_PRELOAD");
    const char *options = g_environ_getenv(env, "ASAN_OPTIONS");
    bool has_before = before && *before, has_options = options && *options;
    g_autofree char *libraries =
        g_strconcat(has_before ? before : "", has_before ? ":" : "", library, NULL);
    /* AddressSanitizer refuses to start behind another library */
    g_autofree char *lenient = g_strconcat(has_options ? options : "", has_options ? ":" : "",
                                           "verify_asan_link_order=0", NULL);
    env = g_environ_setenv(env, "LD_PRELOAD", libraries, TRUE);
    return g_environ_setenv(env, "ASAN_OPTIONS", lenient, TRUE);
}

static uint64_t load(const uint64_t *value)
{
    return __atomic_load_n(value, __ATOMIC_RELAXED);
}

struct orch_watch_map *orch_watch_memory_map(const struct orch_watch_memory *memory)
{
    return memory->map;
}

bool orch_watch_memory_is_empty(const struct orch_watch_memory *memory)
{
    const struct orch_watch_map *map = memory->map;
    return !load(&map->cursor) && !load(&map->left_out);
}

struct orch_watch_gaps orch_watch_memory_gaps(const struct orch_watch_memory *memory)
{
    const struct orch_watch_map *map = memory->map;
    uint64_t attached = load(&map->attached), expected = load(&map->started) + 1;
    return (struct orch_watch_gaps){.attached = attached,
                                    .lost =
                                        attached && attached < expected ? expected - attached : 0,
                                    .left_out = load(&map->left_out),
                                    .unnamed = load(&map->unnamed),
                                    .unwatched = memory->unwatched};
}

/* The paths of a record. */
struct texts {
    char bytes[2 * (ORCH_WATCH_PATH_BYTES + 8)];
};

/* Copies the record at `at`. Its size in bytes; 0 when there is none. */
static size_t copy_record(const char *records, uint64_t at, uint64_t end,
                          struct orch_watch_record *head, struct texts *texts)
{
    if (end - at < sizeof *head)
        return 0;
    memcpy(head, records + at, sizeof *head);
    size_t bytes = (size_t)head->units * 8;
    if (head->mark != ORCH_WATCH_MARK || bytes <= sizeof *head || bytes > end - at ||
        bytes - sizeof *head + 2 > sizeof texts->bytes || head->kind >= ORCH_WATCH_KINDS)
        return 0;
    memcpy(texts->bytes, records + at + sizeof *head, bytes - sizeof *head);
    memset(texts->bytes + bytes - sizeof *head, 0, 2);
    return bytes;
}

void orch_watch_memory_visit(const struct orch_watch_memory *memory, orch_watch_visitor *visit,
                             void *ctx)
{
    uint64_t end = __atomic_load_n(&memory->map->cursor, __ATOMIC_ACQUIRE);
    end = MIN(end, (uint64_t)ORCH_WATCH_BYTES);
    for (uint64_t at = 0; at < end;) {
        struct orch_watch_record head;
        struct texts texts;
        size_t bytes = copy_record(memory->map->records, at, end, &head, &texts);
        at += bytes ? bytes : 8; /* over a gap */
        if (!bytes || *texts.bytes != '/' || head.kind == ORCH_WATCH_NONE)
            continue;
        const char *to = texts.bytes + strlen(texts.bytes) + 1;
        struct orch_watch_entry entry = {
            .kind = (enum orch_watch_kind)head.kind,
            .path = texts.bytes,
            .is_opened = head.is_opened,
            .to = head.kind == ORCH_WATCH_MOVE && *to == '/' ? to : NULL,
            .identity = head.check == orch_watch_check(&head.identity) ? &head.identity : NULL};
        visit(ctx, &entry);
    }
}
