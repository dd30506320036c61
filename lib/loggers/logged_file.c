/* SPDX-License-Identifier: MIT */
#include "lib/loggers/logged_file.h"

#include "lib/loggers/file_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 16, SEEN_BYTES = 64 };
static const int64_t FILE_BYTES_MAX = INT64_C(8) << 30;

/* The bytes at a place of the file, by which a file that was written anew is told. */
struct seen {
    uint8_t bytes[SEEN_BYTES];
    size_t length;
};

struct logged_file {
    char *path;
    const struct orch_logger *logger;
    struct orch_log_sink sink;
    logged_file_again *again;
    void *reader;
    int64_t since_ns;
    struct stat info; /* when it was read last; st_ino 0: not yet */
    struct stat log;  /* of a database: its log of writes */
    int64_t offset;   /* bytes that were read */
    struct seen first, last;
    int claim;
    bool is_shared;
    const char *why, *cut; /* cut: a document was not whole when it was read last */
    char *problem;         /* a database could not be read the last time */
};

struct logged_file *orch_logged_file_new(const char *path, const struct orch_logger *logger,
                                         int64_t since_ns, const struct orch_log_sink *sink,
                                         logged_file_again *again)
{
    struct logged_file *file = g_new0(struct logged_file, 1);
    file->path = g_strdup(path);
    file->logger = logger;
    file->sink = *sink;
    file->again = again;
    file->since_ns = since_ns;
    file->claim = -2;
    file->reader = logger->open(&file->sink, path);
    return file;
}

void orch_logged_file_free(struct logged_file *file)
{
    if (!file)
        return;
    file->logger->close(file->reader);
    if (file->claim >= 0)
        close(file->claim);
    g_free(file->problem);
    g_free(file->path);
    g_free(file);
}

void orch_logged_file_stop(struct logged_file *file, const char *why)
{
    if (!file->why)
        file->why = why;
}

const char *orch_logged_file_why(const struct logged_file *file)
{
    return file->why;
}

bool orch_logged_file_is_shared(const struct logged_file *file)
{
    return file->is_shared;
}

/* ---- the file behind the path ---------------------------------------------------------- */

static void claim(struct logged_file *file, const struct stat *info)
{
    if (file->logger->is_apart)
        return;
    if (file->info.st_ino != info->st_ino || file->info.st_dev != info->st_dev) {
        if (file->claim >= 0)
            close(file->claim);
        file->claim = orch_file_claim(info);
    }
    if (file->claim != -1 && !orch_file_claim_is_disputed(file->claim))
        return;
    file->is_shared = true;
    orch_logged_file_stop(file, "another trial writes it, too");
}

static bool is_as_seen(int fd, int64_t at, const struct seen *seen)
{
    uint8_t now[SEEN_BYTES];
    return pread(fd, now, seen->length, at) == (ssize_t)seen->length &&
           memcmp(now, seen->bytes, seen->length) == 0;
}

/* True when what was read is still the beginning of the file. */
static bool goes_on(const struct logged_file *file, int fd, const struct stat *info)
{
    return info->st_size >= file->offset && is_as_seen(fd, 0, &file->first) &&
           is_as_seen(fd, file->offset - (int64_t)file->last.length, &file->last);
}

static void begin_again(struct logged_file *file)
{
    file->logger->close(file->reader);
    file->reader = file->logger->open(&file->sink, file->path);
    file->offset = 0;
    file->first.length = file->last.length = 0;
    file->again(file->sink.ctx);
}

/* Notes the beginning and the end of what was read. */
static void note_seen(struct logged_file *file, const uint8_t *bytes, size_t length)
{
    size_t room = SEEN_BYTES - file->first.length, part = MIN(room, length);
    memcpy(file->first.bytes + file->first.length, bytes, part);
    file->first.length += part;
    if (length >= SEEN_BYTES) {
        memcpy(file->last.bytes, bytes + length - SEEN_BYTES, SEEN_BYTES);
        file->last.length = SEEN_BYTES;
        return;
    }
    size_t kept = MIN(file->last.length, SEEN_BYTES - length);
    memmove(file->last.bytes, file->last.bytes + file->last.length - kept, kept);
    memcpy(file->last.bytes + kept, bytes, length);
    file->last.length = kept + length;
}

static bool is_same_state(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Opens the file when it has changed; -1: there is nothing new. */
static int open_changed(struct logged_file *file, struct stat *info)
{
    if (file->why || stat(file->path, info) != 0)
        return -1;
    if (is_same_state(info, &file->info) && info->st_size == file->offset) {
        claim(file, info);
        return -1;
    }
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, info) != 0 || !S_ISREG(info->st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* ---- reading -------------------------------------------------------------------------- */

/* Passes on up to `most` bytes. Returns true when the file has more. */
static bool read_on(struct logged_file *file, int fd, size_t most)
{
    g_autofree uint8_t *block = g_malloc(BLOCK_BYTES);
    ssize_t n = 0;
    for (size_t done = 0; !file->why && done < most; done += (size_t)n) {
        n = pread(fd, block, BLOCK_BYTES, file->offset);
        if (n <= 0)
            return false;
        file->offset += n;
        note_seen(file, block, (size_t)n);
        file->why = file->logger->feed(file->reader, block, (size_t)n);
        if (file->offset > FILE_BYTES_MAX)
            orch_logged_file_stop(file, "it is larger than 8 GiB");
    }
    return !file->why;
}

/* Reads a database when it, or its log of writes, has changed. What fails is tried again. */
static bool read_database(struct logged_file *file)
{
    g_autofree char *log_path = g_strconcat(file->path, "-wal", NULL);
    g_autoptr(GError) error = NULL;
    struct stat info, log;
    bool has_more = false;
    if (file->why || stat(file->path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    if (stat(log_path, &log) != 0)
        log = (struct stat){0};
    claim(file, &info);
    if (file->why || (is_same_state(&info, &file->info) && is_same_state(&log, &file->log)))
        return false;
    bool ok = file->logger->read(file->reader, file->since_ns, &has_more, &error);
    g_free(file->problem);
    file->problem = error ? g_strdup(error->message) : NULL;
    file->offset = info.st_size;
    file->info = info;
    file->log = log;
    if (!ok || has_more)
        file->info.st_mtim.tv_sec = -1;
    return has_more;
}

bool orch_logged_file_read(struct logged_file *file, size_t most)
{
    struct stat info;
    if (file->logger->read)
        return read_database(file);
    int fd = open_changed(file, &info);
    if (fd < 0)
        return false;
    claim(file, &info);
    if (!file->why && file->offset && (file->logger->is_document || !goes_on(file, fd, &info))) {
        if (file->logger->is_rewritten)
            begin_again(file);
        else
            file->why = "it was replaced while it was read";
    }
    bool has_more = !file->why && read_on(file, fd, file->logger->is_document ? SIZE_MAX : most);
    file->info = info;
    if (file->logger->is_document && !file->why)
        file->cut = file->logger->finish(file->reader);
    close(fd);
    return has_more;
}

void orch_logged_file_finish(struct logged_file *file)
{
    if (!file->why && file->problem)
        file->why = file->problem;
    if (!file->why && file->offset)
        file->why = file->logger->is_document ? file->cut : file->logger->finish(file->reader);
}
