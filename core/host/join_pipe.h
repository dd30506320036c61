/* SPDX-License-Identifier: MIT */
/* A FIFO into which other processes than the first one of a run write events. Lines
 * of several processes arrive complete, because each is one write of at most PIPE_BUF bytes. */
#ifndef ORCH_HOST_JOIN_PIPE_H
#define ORCH_HOST_JOIN_PIPE_H

#include "core/host/intake.h"

struct join_pipe {
    int fd; /* -1: there is none */
    char *path;
    GString *text;
};

/** Makes the FIFO, and its folder if that is missing. Without it, `fd` is -1. */
bool orch_join_pipe_open(struct join_pipe *pipe, const char *path, GError **error);
/** Reads once; returns the number of bytes, 0 for none. */
size_t orch_join_pipe_read(struct join_pipe *pipe, struct intake *intake);
/** Removes the FIFO, on which programs that read a folder's files would wait, and its folder if
 * that is empty. */
void orch_join_pipe_close(struct join_pipe *pipe);

#endif
