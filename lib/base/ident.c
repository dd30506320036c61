/* SPDX-License-Identifier: MIT */
#include "lib/base/ident.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool orch_key_is_valid(const char *key)
{
    for (int i = 0; i < ORCH_KEY_CHARS - 1; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        bool is_hex = (key[i] >= '0' && key[i] <= '9') || (key[i] >= 'a' && key[i] <= 'f');
        if (is_dash ? key[i] != '-' : !is_hex)
            return false;
    }
    return key[ORCH_KEY_CHARS - 1] == 0;
}

int64_t orch_now_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

int64_t orch_mono_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

void orch_key_make(char out[ORCH_KEY_CHARS])
{
    /* 48 bits of milliseconds, 12 bits of a fraction that keeps keys of one process rising, 62
     * random bits. The fraction is the sub-millisecond time (RFC 9562, 6.2, method 3). */
    static uint64_t last;
    uint64_t now = (uint64_t)orch_now_ns();
    uint64_t stamp = (now / 1000000) << 12 | (now % 1000000) * 4096 / 1000000;
    if (stamp <= last)
        stamp = last + 1;
    last = stamp;
    uint8_t b[16];
    if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
        g_error("no random numbers from the kernel: %s", g_strerror(errno));
    for (int i = 0; i < 6; i++)
        b[i] = (uint8_t)(stamp >> (52 - 8 * i));
    b[6] = (uint8_t)(0x70 | ((stamp >> 8) & 0x0f));
    b[7] = (uint8_t)stamp;
    b[8] = (uint8_t)(0x80 | (b[8] & 0x3f));
    static const char hex[] = "0123456789abcdef";
    char *p = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        *p++ = hex[b[i] >> 4];
        *p++ = hex[b[i] & 15];
    }
    *p = 0;
}

static const char *boot_id(void)
{
    static char id[ORCH_KEY_CHARS];
    if (!id[0]) {
        int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, id, ORCH_KEY_CHARS - 1);
        if (fd >= 0)
            close(fd);
        if (n != ORCH_KEY_CHARS - 1)
            strcpy(id, "unknown");
    }
    return id;
}

/* Reads the state letter and start time of a process. */
static bool read_stat(int64_t pid, char *state, int64_t *start)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = 0;
    char *p = strrchr(text, ')'); /* the name in parentheses may hold anything */
    if (!p || !p[1] || !p[2])
        return false;
    *state = p[2];
    p += 2;
    for (int field = 3; field < 22 && p; field++)
        p = strchr(p + 1, ' ');
    if (!p)
        return false;
    *start = g_ascii_strtoll(p + 1, NULL, 10);
    return true;
}

bool orch_process_get(pid_t pid, struct orch_process *out)
{
    char state;
    int64_t start;
    if (!read_stat(pid, &state, &start))
        return false;
    g_strlcpy(out->boot_id, boot_id(), sizeof out->boot_id);
    out->pid = pid;
    out->start = start;
    return true;
}

bool orch_process_is_alive(const struct orch_process *process)
{
    char state;
    int64_t start;
    return process->pid > 0 && strcmp(process->boot_id, boot_id()) == 0 &&
           read_stat(process->pid, &state, &start) && start == process->start && state != 'Z' &&
           state != 'X';
}

const char *orch_user_name(void)
{
    const char *name = g_getenv("ORCH_USER");
    return name && *name ? name : g_get_user_name();
}
