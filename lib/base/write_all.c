/* SPDX-License-Identifier: MIT */
#include "lib/base/write_all.h"

#include <errno.h>
#include <unistd.h>

bool orch_write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes += n;
        length -= (size_t)n;
    }
    return true;
}
