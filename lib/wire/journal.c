/* SPDX-License-Identifier: MIT */
/* Reads complete lines from a file that may still grow or not exist yet. Uses pread into one
 * buffer, so readers do not share a file position. */
#include "lib/wire/journal.h"

#include "lib/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 17, LINE_MAX_BYTES = 2 * ORCH_WIRE_LINE_MAX };

struct orch_journal {
    int folder; /* AT_FDCWD, or an own descriptor of the folder that `path` is relative to */
    char *path;
    int fd;         /* -1: the file does not exist yet */
    int64_t offset; /* file offset of the buffer's end */
    char *buffer;   /* CHUNK_BYTES + LINE_MAX_BYTES */
    size_t begin, end;
    bool skipping; /* the current line is too long and is dropped up to its end */
    bool without_metrics;
    unsigned bad_count;
};

/* Opens regular files only: others might block, or lead elsewhere. */
static bool try_open(struct orch_journal *journal, GError **error)
{
    struct stat info;
    if (journal->fd >= 0)
        return true;
    int fd = openat(journal->folder, journal->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return true;
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        journal->fd = fd;
        return true;
    }
    if (fd >= 0 || errno == ELOOP || errno == ENXIO || errno == EACCES)
        orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, "cannot read journal '%s': %s",
                       journal->path,
                       fd < 0 && errno == EACCES ? g_strerror(errno) : "not a regular file");
    else
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read journal '%s'",
                             journal->path);
    if (fd >= 0)
        close(fd);
    return false;
}

static struct orch_journal *journal_new(int folder, const char *path, GError **error)
{
    struct orch_journal *journal = g_new0(struct orch_journal, 1);
    journal->folder = folder;
    journal->path = g_strdup(path);
    journal->fd = -1;
    if (!try_open(journal, error)) {
        orch_journal_close(journal);
        return NULL;
    }
    return journal;
}

struct orch_journal *orch_journal_open(const char *path, GError **error)
{
    return journal_new(AT_FDCWD, path, error);
}

struct orch_journal *orch_journal_open_at(int folder, const char *name, GError **error)
{
    int own = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    if (own >= 0)
        return journal_new(own, name, error);
    orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read journal '%s'", name);
    return NULL;
}

void orch_journal_close(struct orch_journal *journal)
{
    if (!journal)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    if (journal->folder >= 0)
        close(journal->folder);
    g_free(journal->path);
    g_free(journal->buffer);
    g_free(journal);
}

/* Moves the rest to the start of the buffer and reads more. *out_more: bytes were read. */
static bool fill(struct orch_journal *journal, bool *out_more, GError **error)
{
    *out_more = false;
    if (!try_open(journal, error))
        return false;
    if (journal->fd < 0)
        return true;
    if (!journal->buffer)
        journal->buffer = g_malloc(CHUNK_BYTES + LINE_MAX_BYTES);
    size_t left = journal->end - journal->begin;
    memmove(journal->buffer, journal->buffer + journal->begin, left);
    journal->begin = 0;
    journal->end = left;
    ssize_t n;
    do
        n = pread(journal->fd, journal->buffer + left, CHUNK_BYTES + LINE_MAX_BYTES - left,
                  journal->offset);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read journal '%s'",
                             journal->path);
        return false;
    }
    journal->offset += n;
    journal->end += (size_t)n;
    *out_more = n > 0;
    return true;
}

/* Next complete line in the buffer, without its end; NULL if there is none. */
static const char *take_line(struct orch_journal *journal, size_t *out_length)
{
    for (;;) {
        const char *line = journal->buffer + journal->begin;
        size_t left = journal->end - journal->begin;
        const char *newline = left ? memchr(line, '\n', left) : NULL;
        if (!newline) {
            if (left > LINE_MAX_BYTES) {
                journal->bad_count += !journal->skipping;
                journal->skipping = true;
                journal->begin = journal->end;
            } else if (journal->skipping) {
                journal->begin = journal->end;
            }
            return NULL;
        }
        journal->begin += (size_t)(newline - line) + 1;
        if (!journal->skipping) {
            *out_length = (size_t)(newline - line);
            return line;
        }
        journal->skipping = false;
    }
}

/* True for a line of metric points, which hosts always write in this form. */
static bool is_metrics(const char *line, size_t length)
{
    static const char head[] = "{\"event\":\"metrics\",";
    return length > sizeof head && memcmp(line, head, sizeof head - 1) == 0;
}

bool orch_journal_next(struct orch_journal *journal, struct orch_event *out, GError **error)
{
    for (;;) {
        size_t length = 0;
        const char *line = take_line(journal, &length);
        if (line) {
            if (journal->without_metrics && is_metrics(line, length))
                continue;
            if (orch_event_decode(line, length, out, NULL))
                return true;
            journal->bad_count++;
            continue;
        }
        bool more;
        if (!fill(journal, &more, error) || !more)
            return false;
    }
}

void orch_journal_seek_tail(struct orch_journal *journal, int64_t bytes)
{
    struct stat info;
    if (!try_open(journal, NULL) || journal->fd < 0 || fstat(journal->fd, &info) != 0 ||
        info.st_size <= bytes)
        return;
    int64_t target = info.st_size - bytes;
    if (target <= journal->offset - (int64_t)(journal->end - journal->begin))
        return;
    /* start one byte before the target: if that is a line end, the target is the start of a line */
    journal->begin = journal->end = 0;
    journal->offset = target - 1;
    journal->skipping = true;
}

void orch_journal_skip_metrics(struct orch_journal *journal)
{
    journal->without_metrics = true;
}

unsigned orch_journal_bad_count(const struct orch_journal *journal)
{
    return journal->bad_count;
}
