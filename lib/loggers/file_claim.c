/* SPDX-License-Identifier: MIT */
/* Rejected: flock, which the program may use itself, and files, which a killed host leaves. */
#include "lib/loggers/file_claim.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A name in the abstract namespace begins with a NUL. */
static socklen_t address_of(const struct stat *file, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "orch-logged/%u/%ju/%ju",
                          (unsigned)getuid(), (uintmax_t)file->st_dev, (uintmax_t)file->st_ino);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

int orch_file_claim(const struct stat *file)
{
    struct sockaddr_un address;
    socklen_t length = address_of(file, &address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -2;
    if (bind(fd, (struct sockaddr *)&address, length) == 0 && listen(fd, 1) == 0)
        return fd;
    bool is_taken = errno == EADDRINUSE;
    if (is_taken) {
        close(fd);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&address, length) != 0)
            is_taken = errno != ECONNREFUSED; /* its trial has ended just now */
    }
    if (fd >= 0)
        close(fd);
    return is_taken ? -1 : -2;
}

bool orch_file_claim_is_disputed(int claim)
{
    int other = claim >= 0 ? accept4(claim, NULL, NULL, SOCK_CLOEXEC) : -1;
    if (other >= 0)
        close(other);
    return other >= 0;
}
