/* SPDX-License-Identifier: MIT */
/* A trial's output in a file of bounded size. The first half of the limit keeps the beginning; the
 * second half is a ring buffer with the newest output, put in order at the end. A note marks the
 * bytes dropped between them. Neither memory nor disk use grows with the output. */
#ifndef ORCH_HOST_OUTPUT_CAPTURE_H
#define ORCH_HOST_OUTPUT_CAPTURE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define CAPTURE_TAIL_BYTES 8192

struct capture {
    char *path;
    int fd; /* -1: no output yet */
    int64_t limit_bytes;
    int64_t total_bytes; /* received */
    int64_t lost_bytes;  /* not written because of an error (full disk) */
    char *tail;          /* ring buffer of the last CAPTURE_TAIL_BYTES */
};

/** `limit_bytes` 0: 16 MiB. */
void orch_capture_init(struct capture *capture, const char *folder, const char *name,
                       int64_t limit_bytes);
void orch_capture_clear(struct capture *capture);

void orch_capture_write(struct capture *capture, const char *bytes, size_t length);
/** Puts the file in order. Returns the number of bytes that it does not contain. */
int64_t orch_capture_finish(struct capture *capture);
/** The last bytes as valid UTF-8, starting at a line if possible. Caller frees. */
char *orch_capture_tail(const struct capture *capture);

#endif
