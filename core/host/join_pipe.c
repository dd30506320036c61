/* SPDX-License-Identifier: MIT */
#include "core/host/join_pipe.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JOIN_BYTES_MAX = 65536 }; /* of an incomplete line */

/* Opened for reading and writing, so that there is no end of file while there is no writer. */
bool orch_join_pipe_open(struct join_pipe *pipe, const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    *pipe = (struct join_pipe){.fd = -1, .path = g_strdup(path), .text = g_string_new(NULL)};
    if (orch_dir_make(folder, NULL) && mkfifo(path, 0600) == 0)
        pipe->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (pipe->fd < 0)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot make '%s'", path);
    return pipe->fd >= 0;
}

size_t orch_join_pipe_read(struct join_pipe *pipe, struct intake *intake)
{
    char buffer[4096];
    ssize_t n = pipe->fd >= 0 ? read(pipe->fd, buffer, sizeof buffer) : 0;
    if (n <= 0)
        return 0;
    g_string_append_len(pipe->text, buffer, n);
    size_t begin = 0;
    const char *newline;
    while ((newline = memchr(pipe->text->str + begin, '\n', pipe->text->len - begin))) {
        const char *line = pipe->text->str + begin;
        begin = (size_t)(newline + 1 - pipe->text->str);
        orch_intake_line(intake, line, (size_t)(newline - line));
    }
    g_string_erase(pipe->text, 0, (gssize)begin);
    if (pipe->text->len >= JOIN_BYTES_MAX)
        g_string_truncate(pipe->text, 0);
    return (size_t)n;
}

void orch_join_pipe_close(struct join_pipe *pipe)
{
    if (pipe->fd >= 0) {
        g_autofree char *folder = g_path_get_dirname(pipe->path);
        close(pipe->fd);
        unlink(pipe->path);
        rmdir(folder);
    }
    g_free(pipe->path);
    if (pipe->text)
        g_string_free(pipe->text, TRUE);
    *pipe = (struct join_pipe){.fd = -1};
}
