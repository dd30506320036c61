/* SPDX-License-Identifier: MIT */
#include "lib/watch/preload_note.h"

#include "lib/watch/preload_path.h"
#include "lib/watch/preload_raw.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* May be missing in programs of another C library. */
#pragma weak clock_gettime

enum { PROBES_FIRST = 4, PROBES_LAST = 16, DESCRIPTORS = 1024 };

static struct orch_watch_map *map; /* NULL: not watched */

/* The files that this process has opened for writing: where their records are. A child has its own
 * descriptors, and may have this memory (vfork). */
static struct {
    uint32_t record;
    int pid;
} written[DESCRIPTORS];

void orch_watch_begin(struct orch_watch_map *there, int pid)
{
    orch_watch_path_begin(there, pid);
    map = there;
}

struct orch_watch_map *orch_watch_memory(void)
{
    return map;
}

static int pid_now(void)
{
    return (int)orch_watch_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* ---- files ------------------------------------------------------------------------------------
 */

struct file {
    struct orch_watch_identity identity;
    mode_t mode;
};

/* Looks at the file at a name; NULL: at the open file `fd`. AT_SYMLINK_NOFOLLOW: at a link itself.
 */
static bool look(int fd, const char *name, int flags, struct file *out)
{
    struct stat info;
#ifdef SYS_newfstatat
    long failed = name ? ORCH_WATCH_CALL(SYS_newfstatat, fd, name, &info, flags)
                       : ORCH_WATCH_CALL(SYS_fstat, fd, &info, 0, 0);
#else
    long failed = name ? fstatat(fd, name, &info, flags) : fstat(fd, &info);
#endif
    if (failed)
        return false;
    out->mode = info.st_mode;
    out->identity = orch_watch_identity_of(&info);
    return true;
}

/* ---- records ----------------------------------------------------------------------------------
 */

static void leave_out(void)
{
    __atomic_fetch_add(&map->left_out, 1, __ATOMIC_RELAXED);
}

/* Of eight bytes at a time. */
static uint64_t hash_of(const struct orch_watch_path *path, enum orch_watch_kind kind)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = (uint64_t)kind * odd, word;
    size_t i = 0;
    for (; i + sizeof word <= path->length; i += sizeof word) {
        memcpy(&word, path->text + i, sizeof word);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 29;
    }
    for (word = 0; i < path->length; i++)
        word = word << 8 | (unsigned char)path->text[i];
    hash = (hash ^ word) * odd;
    return hash ^ (hash >> 32);
}

static void set_identity(struct orch_watch_record *record,
                         const struct orch_watch_identity *identity)
{
    uint64_t check = orch_watch_check(identity);
    __atomic_store_n(&record->check, ~check, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&record->identity.device, identity->device, __ATOMIC_RELAXED);
    __atomic_store_n(&record->identity.inode, identity->inode, __ATOMIC_RELAXED);
    __atomic_store_n(&record->identity.size, identity->size, __ATOMIC_RELAXED);
    __atomic_store_n(&record->identity.mtime_ns, identity->mtime_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&record->identity.ctime_ns, identity->ctime_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&record->check, check, __ATOMIC_RELEASE);
}

/* NULL when there is no room. `second`: another path behind the first, or NULL. */
static struct orch_watch_record *append(const struct orch_watch_path *path, const char *second,
                                        enum orch_watch_kind kind,
                                        const struct orch_watch_identity *identity)
{
    size_t behind = second ? orch_watch_length(second) + 1 : 0;
    uint64_t bytes = (sizeof(struct orch_watch_record) + path->length + 1 + behind + 7) / 8 * 8;
    if (__atomic_load_n(&map->cursor, __ATOMIC_RELAXED) + bytes > ORCH_WATCH_BYTES) {
        leave_out();
        return NULL;
    }
    uint64_t at = __atomic_fetch_add(&map->cursor, bytes, __ATOMIC_RELAXED);
    if (at + bytes > ORCH_WATCH_BYTES) {
        leave_out();
        return NULL;
    }
    struct orch_watch_record *record = (void *)(map->records + at);
    record->units = (uint16_t)(bytes / 8);
    record->kind = (uint8_t)kind;
    if (identity) /* else the check is that of none */
        set_identity(record, identity);
    memcpy(record->path, path->text, path->length + 1);
    if (second)
        memcpy(record->path + path->length + 1, second, behind);
    __atomic_store_n(&record->mark, (uint32_t)ORCH_WATCH_MARK, __ATOMIC_RELEASE);
    return record;
}

static uint32_t place_of(const struct orch_watch_record *record)
{
    return (uint32_t)(((const char *)record - map->records) / 8) + 1;
}

/* NULL when no whole record can lie there. */
static struct orch_watch_record *record_at(uint32_t place)
{
    uint64_t at = ((uint64_t)place - 1) * 8, head = sizeof(struct orch_watch_record);
    if (!place || at + head >= ORCH_WATCH_BYTES)
        return NULL;
    struct orch_watch_record *record = (void *)(map->records + at);
    return at + (uint64_t)record->units * 8 <= ORCH_WATCH_BYTES ? record : NULL;
}

static bool is_of(const struct orch_watch_record *record, const struct orch_watch_path *path,
                  enum orch_watch_kind kind)
{
    return record && record->kind == kind &&
           (uint64_t)record->units * 8 > sizeof *record + path->length &&
           memcmp(record->path, path->text, path->length + 1) == 0;
}

/* What is looked for, and what has been found of it. */
struct search {
    const struct orch_watch_path *path;
    enum orch_watch_kind kind;
    bool makes;                                 /* a record, when there is none */
    const struct orch_watch_identity *identity; /* of it; NULL: not known yet */
    uint64_t hash;                              /* 0: not known yet */
    struct orch_watch_record *record;           /* found, or made */
    bool is_made;
};

/* Looks in one part of the index, whose size is a power of two. True when the search is over. */
static bool search_in(struct search *s, uint32_t *part, uint32_t slots, unsigned probes)
{
    const uint32_t places = (UINT32_C(1) << ORCH_WATCH_PLACE_BITS) - 1;
    uint32_t tag = (uint32_t)(s->hash >> 32) & ~places;
    for (unsigned i = 0; i < probes; i++) {
        uint32_t *slot = &part[(s->hash + i) & (slots - 1)];
        uint32_t there = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (!there && !s->makes)
            return true;
        if (!there && !s->is_made) {
            s->record = append(s->path, NULL, s->kind, s->identity);
            s->is_made = s->record != NULL;
            if (!s->record)
                return true;
        }
        if (!there && __atomic_compare_exchange_n(slot, &there, tag | place_of(s->record), false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return true;
        struct orch_watch_record *record =
            (there & ~places) == tag ? record_at(there & places) : NULL;
        if (is_of(record, s->path, s->kind)) {
            if (s->is_made)
                s->record->kind = ORCH_WATCH_NONE;
            s->is_made = false;
            s->record = record;
            return true;
        }
    }
    return false;
}

static void search(struct search *s)
{
    uint32_t *first = map->index, *second = first + ORCH_WATCH_SLOTS_1;
    s->hash = s->hash ? s->hash : hash_of(s->path, s->kind);
    if (search_in(s, first, ORCH_WATCH_SLOTS_1, PROBES_FIRST) ||
        search_in(s, second, ORCH_WATCH_SLOTS_2, PROBES_FIRST) ||
        search_in(s, second + ORCH_WATCH_SLOTS_2, ORCH_WATCH_SLOTS_3, PROBES_LAST))
        return;
    if (s->makes && !s->is_made)
        leave_out();
}

/* The record of a path; NULL: there is none. */
static struct orch_watch_record *find(const struct orch_watch_path *path, enum orch_watch_kind kind)
{
    struct search s = {.path = path, .kind = kind};
    search(&s);
    return s.record;
}

/* Makes the record of a path, unless it is there. */
static void add(const struct orch_watch_path *path, enum orch_watch_kind kind,
                const struct orch_watch_identity *identity)
{
    search(&(struct search){.path = path, .kind = kind, .makes = true, .identity = identity});
}

/* The record of a path then has this identity. NULL: there is no room. */
static struct orch_watch_record *put(const struct orch_watch_path *path, enum orch_watch_kind kind,
                                     const struct orch_watch_identity *identity)
{
    struct search s = {.path = path, .kind = kind, .makes = true, .identity = identity};
    search(&s);
    if (s.record && !s.is_made)
        set_identity(s.record, identity);
    return s.record;
}

/* ---- the file that was opened last ------------------------------------------------------------
 */

uint64_t orch_watch_latest;
static int64_t latest_opened_ns;

/* What stands for a path that is no regular file, and for a file that may have been changed between
 * its opening and the first look at it, which it never is again. */
static const struct orch_watch_identity NO_FILE = {0};
static const int64_t CHANGED_NS = -1;

/* Gives a record its first identity. */
static void identify(struct orch_watch_record *record, const struct file *file)
{
    if (!record || record->check == orch_watch_check(&record->identity))
        return;
    set_identity(record, S_ISREG(file->mode) ? &file->identity : &NO_FILE);
}

static bool is_no_file(const struct orch_watch_record *record)
{
    return record && !record->identity.inode &&
           record->check == orch_watch_check(&record->identity);
}

/* By the clock that stamps files. */
static int64_t coarse_now_ns(void)
{
    struct timespec now = {0};
    if (clock_gettime)
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* It may have been read unseen (mmap): only if it was not changed since it was opened it is what it
 * was. By its path first: another thread may have closed the descriptor, whose number may be that
 * of another file by now. */
static void end_look(uint64_t latest)
{
    struct file file;
    struct orch_watch_record *record = latest && map ? record_at((uint32_t)(latest >> 32)) : NULL;
    if (!record || !(look(AT_FDCWD, record->path, 0, &file) ||
                     look((int)(uint32_t)latest - 1, NULL, 0, &file)))
        return;
    if (file.identity.ctime_ns >= latest_opened_ns)
        file.identity.ctime_ns = CHANGED_NS;
    identify(record, &file);
}

void orch_watch_end_latest(void)
{
    end_look(orch_watch_latest ? __atomic_exchange_n(&orch_watch_latest, 0, __ATOMIC_RELAXED) : 0);
}

static void expect_look(int fd, const struct orch_watch_record *record)
{
    uint64_t next = (uint64_t)place_of(record) << 32 | ((uint32_t)fd + 1);
    int64_t opened_ns = coarse_now_ns();
    end_look(__atomic_exchange_n(&orch_watch_latest, next, __ATOMIC_RELAXED)); /* of a thread */
    latest_opened_ns = opened_ns;
}

/* The record of the file that was opened last, which from now on is not expected to be looked at.
 * NULL: it is another than `fd`, which another thread has opened meanwhile. */
static struct orch_watch_record *take_latest(int fd)
{
    uint64_t latest = __atomic_load_n(&orch_watch_latest, __ATOMIC_RELAXED);
    if (!map || !latest || (uint32_t)latest != (uint32_t)fd + 1 ||
        !__atomic_compare_exchange_n(&orch_watch_latest, &latest, 0, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return NULL;
    return record_at((uint32_t)(latest >> 32));
}

void orch_watch_look_at_latest(int fd)
{
    struct file file;
    struct orch_watch_record *record = take_latest(fd);
    if (record && look(fd, NULL, 0, &file))
        identify(record, &file);
}

void orch_watch_seen(int fd, const struct stat *info)
{
    identify(take_latest(fd),
             &(struct file){.identity = orch_watch_identity_of(info), .mode = info->st_mode});
}

/* ---- descriptors ------------------------------------------------------------------------------
 */

static void remember(int fd, const struct orch_watch_record *record)
{
    if (fd < 0 || fd >= DESCRIPTORS || !record)
        return;
    __atomic_store_n(&written[fd].pid, pid_now(), __ATOMIC_RELAXED);
    __atomic_store_n(&written[fd].record, place_of(record), __ATOMIC_RELEASE);
}

/* 0: this process has not opened it for writing. */
static uint32_t place_written(int fd)
{
    if (!map || fd < 0 || fd >= DESCRIPTORS)
        return 0;
    uint32_t place = __atomic_load_n(&written[fd].record, __ATOMIC_ACQUIRE);
    return place && __atomic_load_n(&written[fd].pid, __ATOMIC_RELAXED) == pid_now() ? place : 0;
}

uint32_t orch_watch_written(int fd)
{
    if (orch_watch_is_latest(fd))
        orch_watch_end_latest();
    uint32_t place = place_written(fd);
    if (place)
        __atomic_store_n(&written[fd].record, 0, __ATOMIC_RELAXED);
    return place;
}

int orch_watch_doubled(int fd, int from)
{
    orch_watch_reading(from);
    uint32_t place = fd >= 0 ? place_written(from) : 0;
    if (place && fd != from)
        remember(fd, record_at(place));
    return fd;
}

static bool is_same_file(const struct orch_watch_identity *a, const struct orch_watch_identity *b)
{
    return a->device == b->device && a->inode == b->inode;
}

static void complete(uint32_t place, int fd)
{
    struct orch_watch_record *record = place ? record_at(place) : NULL;
    struct file file;
    if (record && look(fd, fd < 0 ? record->path : NULL, 0, &file) &&
        is_same_file(&record->identity, &file.identity))
        set_identity(record, &file.identity);
}

void orch_watch_closing(int fd)
{
    complete(orch_watch_written(fd), fd);
}

void orch_watch_closed(uint32_t record)
{
    complete(record, AT_FDCWD);
}

/* ---- what a process does ----------------------------------------------------------------------
 */

enum way { READS, WRITES, UPDATES /* and it was not emptied */ };

static enum way way_of(int flags)
{
    int access = flags & O_ACCMODE;
    if (access == O_RDONLY && !(flags & O_TRUNC))
        return READS;
    return access == O_RDWR && !(flags & (O_TRUNC | O_EXCL)) ? UPDATES : WRITES;
}

int orch_watch_opened(int fd, int dirfd, const char *name, int flags)
{
    struct orch_watch_path path;
    struct file file;
    enum way way = way_of(flags);
    if (fd < 0 || !map || !name || (flags & (O_PATH | O_DIRECTORY)) ||
        !orch_watch_locate(&path, dirfd, name, fd, ORCH_WATCH_FOLLOWED))
        return fd;
    if (orch_watch_is_latest(fd)) /* closed unseen: nothing is known of it */
        orch_watch_latest = 0;
    orch_watch_end_latest();
    struct search reading = {.path = &path, .kind = ORCH_WATCH_READ, .makes = true};
    if (way == READS)
        search(&reading);
    if (reading.is_made)
        expect_look(fd, reading.record);
    if ((way == READS && !is_no_file(reading.record)) || !look(fd, NULL, 0, &file) ||
        !S_ISREG(file.mode))
        return fd;
    if (way == READS) {
        set_identity(reading.record, &file.identity);
        return fd;
    }
    if (way == UPDATES && file.identity.size > 0)
        add(&path, ORCH_WATCH_READ, &file.identity);
    if (file.identity.size > 0 && !find(&path, ORCH_WATCH_WRITE))
        add(&path, ORCH_WATCH_EXTEND, &file.identity);
    struct orch_watch_record *record = put(&path, ORCH_WATCH_WRITE, &file.identity);
    if (record)
        __atomic_store_n(&record->is_opened, 1, __ATOMIC_RELAXED);
    remember(fd, record);
    return fd;
}

void orch_watch_used(enum orch_watch_kind kind, int dirfd, const char *name)
{
    struct orch_watch_path path;
    struct file file;
    if (map && name && orch_watch_locate(&path, dirfd, name, -1, ORCH_WATCH_FOLLOWED) &&
        !find(&path, kind) && look(AT_FDCWD, path.text, 0, &file) &&
        (kind == ORCH_WATCH_LIST ? S_ISDIR(file.mode) : S_ISREG(file.mode)))
        add(&path, kind, &file.identity);
}

void orch_watch_wrote(int dirfd, const char *name)
{
    struct orch_watch_path path;
    struct file file;
    if (map && name && orch_watch_locate(&path, dirfd, name, -1, ORCH_WATCH_ITSELF) &&
        look(AT_FDCWD, path.text, 0, &file) && S_ISREG(file.mode))
        put(&path, ORCH_WATCH_WRITE, &file.identity);
}

void orch_watch_removed(int dirfd, const char *name)
{
    static const struct orch_watch_identity none = {0};
    struct orch_watch_path path;
    if (map && name && orch_watch_locate(&path, dirfd, name, -1, ORCH_WATCH_ITSELF))
        put(&path, ORCH_WATCH_WRITE, &none);
}

bool orch_watch_is_file(const char *name)
{
    struct file file;
    return map && look(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, &file) && !S_ISDIR(file.mode);
}

/* Notes the new name of a folder, in which files keep theirs. */
static void note_move(const struct orch_watch_path *from, int to_fd, const char *to,
                      const struct orch_watch_identity *identity)
{
    struct orch_watch_path path;
    if (orch_watch_locate(&path, to_fd, to, -1, ORCH_WATCH_ITSELF))
        append(from, path.text, ORCH_WATCH_MOVE, identity);
}

/* What a file holds that the process itself has not written can be read under its new name. */
static void note_source(int from_fd, const char *from, const struct file *file)
{
    struct orch_watch_path path;
    if (S_ISREG(file->mode) && orch_watch_locate(&path, from_fd, from, -1, ORCH_WATCH_ITSELF) &&
        !find(&path, ORCH_WATCH_WRITE))
        add(&path, ORCH_WATCH_READ, &file->identity);
}

void orch_watch_renamed(int from_fd, const char *from, int to_fd, const char *to)
{
    struct orch_watch_path path;
    struct file file, left;
    if (!map || !from || !to)
        return;
    if (look(to_fd, to, AT_SYMLINK_NOFOLLOW, &file) && S_ISDIR(file.mode)) {
        if (orch_watch_locate(&path, from_fd, from, -1, ORCH_WATCH_ITSELF))
            note_move(&path, to_fd, to, &file.identity);
        return;
    }
    note_source(from_fd, from, &file);
    /* two names of one file stay, and RENAME_EXCHANGE leaves another */
    bool is_left = look(from_fd, from, AT_SYMLINK_NOFOLLOW, &left);
    if (is_left)
        note_source(to_fd, to, &left);
    orch_watch_wrote(to_fd, to);
    if (is_left)
        orch_watch_wrote(from_fd, from);
    else
        orch_watch_removed(from_fd, from);
}

void orch_watch_linked(int from_fd, const char *from, int to_fd, const char *to)
{
    orch_watch_used(ORCH_WATCH_READ, from_fd, from);
    orch_watch_touched(from_fd, from);
    orch_watch_wrote(to_fd, to);
}

/* The path of a descriptor is one by which the file can be reached. */
static bool is_reached(int fd, const struct orch_watch_path *path)
{
    struct file there, opened;
    return look(AT_FDCWD, path->text, 0, &there) && look(fd, NULL, 0, &opened) &&
           is_same_file(&there.identity, &opened.identity);
}

static void note_touch(const struct orch_watch_path *path)
{
    struct file file;
    if (!look(AT_FDCWD, path->text, 0, &file) || !S_ISREG(file.mode))
        return;
    struct orch_watch_record *own = find(path, ORCH_WATCH_WRITE);
    if (own && is_same_file(&own->identity, &file.identity))
        set_identity(own, &file.identity);
    else
        put(path, ORCH_WATCH_TOUCH, &file.identity);
}

void orch_watch_touched(int fd, const char *name)
{
    struct orch_watch_path path, opened;
    if (!map)
        return;
    if (name ? orch_watch_locate(&path, fd, name, -1, ORCH_WATCH_FOLLOWED)
             : orch_watch_path_of(fd, &opened) && is_reached(fd, &opened) &&
                   orch_watch_locate(&path, AT_FDCWD, opened.text, fd, ORCH_WATCH_FOLLOWED))
        note_touch(&path);
}

/* Whoever opened it may not have been watched: posix_spawn opens what it redirects itself. */
void orch_watch_inherited(int fd)
{
    struct orch_watch_path path;
    long flags = ORCH_WATCH_CALL(SYS_fcntl, fd, F_GETFL, 0, 0);
    if (flags >= 0 && orch_watch_path_of(fd, &path) && is_reached(fd, &path))
        orch_watch_opened(fd, AT_FDCWD, path.text, (int)flags & O_ACCMODE);
}

void orch_watch_started(int count)
{
    if (map)
        __atomic_fetch_add(&map->started, (uint64_t)(int64_t)count, __ATOMIC_RELAXED);
}

void orch_watch_program(enum orch_watch_kind kind, const char *name)
{
    static const struct orch_watch_identity none = {0};
    struct orch_watch_path path;
    if (!map)
        return;
    if (name ? orch_watch_resolve(&path, AT_FDCWD, name)
             : orch_watch_path_behind("/proc/self/exe", &path))
        add(&path, kind, &none);
}
