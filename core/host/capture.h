/* SPDX-License-Identifier: MIT */
/* What a trial prints, kept in a file of bounded size: the first half of the limit stays, the
 * second half always holds what came last (a ring inside the file, put in order at the end), and
 * what fell between is counted and said. Neither memory nor disk grows with the output. */
#ifndef ORCH_HOST_CAPTURE_H
#define ORCH_HOST_CAPTURE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define CAPTURE_TAIL_BYTES 8192

struct capture {
    char *path;
    int fd; /* -1: nothing came yet */
    int64_t limit_bytes;
    int64_t total_bytes; /* that came */
    int64_t lost_bytes;  /* that could not be written (full disk) */
    char *tail;          /* ring of the last CAPTURE_TAIL_BYTES */
};

/** `limit_bytes` 0: 16 MiB. */
void capture_init(struct capture *capture, const char *folder, const char *name,
                  int64_t limit_bytes);
void capture_clear(struct capture *capture);

void capture_write(struct capture *capture, const char *bytes, size_t length);
/** Puts the file in order. Returns the bytes that it does not hold. */
int64_t capture_finish(struct capture *capture);
/** The last bytes as valid UTF-8, from a line's begin where there is one. The caller frees. */
char *capture_tail(const struct capture *capture);

#endif
