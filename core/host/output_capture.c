/* SPDX-License-Identifier: MIT */
#include "core/host/output_capture.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const int64_t LIMIT_DEFAULT = 16 << 20, LIMIT_MIN = 4096;

void orch_capture_init(struct capture *capture, const char *folder, const char *name,
                       int64_t limit_bytes)
{
    *capture = (struct capture){
        .path = g_build_filename(folder, name, NULL),
        .fd = -1,
        .limit_bytes = MAX(limit_bytes > 0 ? limit_bytes : LIMIT_DEFAULT, LIMIT_MIN),
    };
}

void orch_capture_clear(struct capture *capture)
{
    if (capture->fd >= 0)
        close(capture->fd);
    g_free(capture->path);
    g_free(capture->tail);
    memset(capture, 0, sizeof *capture);
    capture->fd = -1;
}

/* Size of the fixed part of the file; the ring buffer follows. */
static int64_t head_bytes(const struct capture *capture)
{
    return capture->limit_bytes / 2;
}

static int64_t ring_bytes(const struct capture *capture)
{
    return capture->limit_bytes - head_bytes(capture);
}

/* File offset of byte number `n` of the output. */
static int64_t place_of(const struct capture *capture, int64_t n)
{
    int64_t head = head_bytes(capture);
    return n < head ? n : head + (n - head) % ring_bytes(capture);
}

static void put(struct capture *capture, const char *bytes, int64_t length, int64_t place)
{
    while (length > 0) {
        ssize_t n = pwrite(capture->fd, bytes, (size_t)length, place);
        if (n <= 0) {
            capture->lost_bytes += length;
            return;
        }
        bytes += n;
        place += n;
        length -= n;
    }
}

static void remember_tail(struct capture *capture, const char *bytes, size_t length)
{
    if (!capture->tail)
        capture->tail = g_malloc(CAPTURE_TAIL_BYTES);
    size_t skip = length > CAPTURE_TAIL_BYTES ? length - CAPTURE_TAIL_BYTES : 0;
    for (size_t i = skip; i < length;) {
        size_t at = (size_t)((capture->total_bytes + (int64_t)i) % CAPTURE_TAIL_BYTES);
        size_t run = MIN(length - i, CAPTURE_TAIL_BYTES - at);
        memcpy(capture->tail + at, bytes + i, run);
        i += run;
    }
}

void orch_capture_write(struct capture *capture, const char *bytes, size_t length)
{
    if (capture->fd < 0)
        capture->fd = open(capture->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    remember_tail(capture, bytes, length);
    int64_t head = head_bytes(capture);
    for (int64_t done = 0; done < (int64_t)length;) {
        int64_t n = capture->total_bytes + done, place = place_of(capture, n);
        int64_t room = (n < head ? head : capture->limit_bytes) - place;
        int64_t run = MIN((int64_t)length - done, room);
        if (capture->fd >= 0)
            put(capture, bytes + done, run, place);
        else
            capture->lost_bytes += run;
        done += run;
    }
    capture->total_bytes += (int64_t)length;
}

/* Reads the ring buffer in chronological order. Caller frees. */
static char *read_ring(struct capture *capture)
{
    int64_t head = head_bytes(capture), size = ring_bytes(capture);
    int64_t oldest = place_of(capture, capture->total_bytes) - head;
    char *ring = g_malloc((size_t)size);
    for (int64_t done = 0; done < size;) {
        int64_t at = (oldest + done) % size;
        ssize_t n = pread(capture->fd, ring + done, (size_t)MIN(size - done, size - at), head + at);
        if (n <= 0) {
            g_free(ring);
            return NULL;
        }
        done += n;
    }
    return ring;
}

int64_t orch_capture_finish(struct capture *capture)
{
    int64_t dropped = capture->total_bytes - capture->limit_bytes;
    if (capture->fd < 0 || dropped <= 0)
        return capture->lost_bytes;
    g_autofree char *ring = read_ring(capture);
    if (!ring)
        return dropped + capture->lost_bytes;
    int64_t size = ring_bytes(capture), skip = 0;
    const char *newline = memchr(ring, '\n', (size_t)size / 2); /* start with a complete line */
    if (newline)
        skip = newline + 1 - ring;
    g_autofree char *mark =
        g_strdup_printf("\n[orch: %" G_GINT64_FORMAT " bytes were dropped here]\n", dropped + skip);
    int64_t mark_bytes = (int64_t)strlen(mark), place = head_bytes(capture);
    put(capture, mark, mark_bytes, place);
    put(capture, ring + skip, size - skip, place + mark_bytes);
    if (ftruncate(capture->fd, place + mark_bytes + size - skip) != 0)
        g_debug("cannot shorten '%s'", capture->path);
    return dropped + skip + capture->lost_bytes;
}

char *orch_capture_tail(const struct capture *capture)
{
    size_t length = (size_t)MIN(capture->total_bytes, (int64_t)CAPTURE_TAIL_BYTES);
    g_autofree char *text = g_malloc(length + 1);
    size_t oldest = (size_t)((capture->total_bytes - (int64_t)length) % CAPTURE_TAIL_BYTES);
    for (size_t i = 0; i < length; i++)
        text[i] = capture->tail[(oldest + i) % CAPTURE_TAIL_BYTES];
    const char *first = text;
    const char *newline = length == CAPTURE_TAIL_BYTES ? memchr(text, '\n', length) : NULL;
    if (newline && newline + 1 < text + length)
        first = newline + 1;
    return g_utf8_make_valid(first, (gssize)(length - (size_t)(first - text)));
}
