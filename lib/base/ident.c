/* SPDX-License-Identifier: MIT */
#include "lib/base/ident.h"

#include "lib/base/login.h"
#include "lib/base/proc_stat.h"

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

int64_t orch_timespec_ns(struct timespec time)
{
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int64_t orch_now_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

char *orch_ago_format(int64_t utc_ns)
{
    double seconds = (double)(orch_now_ns() - utc_ns) / 1e9;
    if (seconds < 60)
        return g_strdup_printf("%d s ago", (int)MAX(0.0, seconds));
    if (seconds < 3600)
        return g_strdup_printf("%d min ago", (int)(seconds / 60));
    if (seconds < 86400)
        return g_strdup_printf("%d h ago", (int)(seconds / 3600));
    return g_strdup_printf("%d d ago", (int)(seconds / 86400));
}

int64_t orch_mono_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t orch_boot_ns(void)
{
    return clock_ns(CLOCK_BOOTTIME);
}

void orch_key_make(char out[ORCH_KEY_CHARS])
{
    /* 48 bits of milliseconds, 12 bits of sub-millisecond time (RFC 9562, 6.2, method 3),
     * incremented if needed to keep the keys of one process ascending, and 62 random bits. */
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

bool orch_process_get(pid_t pid, struct orch_process *out)
{
    struct orch_proc_stat stat;
    if (!orch_proc_stat_read(pid, &stat))
        return false;
    g_strlcpy(out->boot_id, boot_id(), sizeof out->boot_id);
    out->pid = pid;
    out->start = stat.start;
    return true;
}

bool orch_process_is_alive(const struct orch_process *process)
{
    struct orch_proc_stat stat;
    return process->pid > 0 && strcmp(process->boot_id, boot_id()) == 0 &&
           orch_proc_stat_read((pid_t)process->pid, &stat) && stat.start == process->start &&
           stat.state != 'Z' && stat.state != 'X';
}

int64_t orch_process_start_ns(const struct orch_process *process)
{
    const int64_t ticks = MAX(1, sysconf(_SC_CLK_TCK)), ns = INT64_C(1000000000);
    return process->start / ticks * ns + process->start % ticks * ns / ticks;
}

/* Not the owner of the folder /proc/PID, which is root for a program that may not be read. */
bool orch_process_owner(pid_t pid, uid_t *out_uid)
{
    char path[64], text[4096];
    unsigned effective;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[MAX(n, 0)] = 0;
    const char *line = strstr(text, "\nUid:");
    if (!line || sscanf(line, "\nUid: %*u %u", &effective) != 1)
        return false;
    *out_uid = (uid_t)effective;
    return true;
}

bool orch_process_is_stopped(pid_t pid)
{
    struct orch_proc_stat stat;
    return orch_proc_stat_read(pid, &stat) && stat.state == 'T';
}

/* ---- people ------------------------------------------------------------------------------------
 */

#define WHO_BYTES_MAX 200

static char *user; /* set or found */
static char *(*find_user)(void *ctx);
static void *find_user_ctx;

void orch_user_set(const char *who)
{
    g_free(user);
    user = who ? orch_who_clean(g_strdup(who)) : NULL;
    if (user && !*user)
        g_clear_pointer(&user, g_free);
}

void orch_user_set_finder(char *(*find)(void *ctx), void *ctx)
{
    find_user = find;
    find_user_ctx = ctx;
}

const char *orch_user_name(void)
{
    if (user)
        return user;
    const char *named = g_getenv("ORCH_USER");
    g_autofree char *clean = named ? orch_who_clean(g_strdup(named)) : NULL;
    if (clean && strcmp(clean, named) != 0)
        orch_user_set(clean);
    if (clean && *clean)
        return user ? user : named;
    if (find_user) {
        g_autofree char *found = find_user(find_user_ctx);
        find_user = NULL;
        orch_user_set(found);
    }
    return user ? user : g_get_user_name();
}

char *orch_who_clean(char *who)
{
    g_autofree char *valid = g_utf8_make_valid(who, -1);
    char *out = who;
    for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        size_t bytes = (size_t)(g_utf8_next_char(at) - at);
        bool is_text = g_unichar_isprint(c);
        if ((size_t)(out - who) + bytes > MIN(strlen(who), WHO_BYTES_MAX))
            break;
        if (is_text)
            memcpy(out, at, bytes);
        else
            *out = ' ';
        out += is_text ? bytes : 1;
    }
    *out = 0;
    return g_strstrip(who);
}

/* Start of the "<address>" at the end of the text; NULL if it does not end with one. */
static const char *bracket(const char *who)
{
    size_t length = strlen(who);
    return length > 2 && who[length - 1] == '>' ? strrchr(who, '<') : NULL;
}

char *orch_who_name(const char *who)
{
    const char *at = who ? bracket(who) : NULL;
    char *name = at ? g_strchomp(g_strndup(who, (gsize)(at - who))) : g_strdup(who);
    if (!at || *name)
        return name;
    g_free(name);
    return g_strdup(who);
}

char *orch_who_address(const char *who)
{
    const char *at = who ? bracket(who) : NULL;
    if (at)
        return g_strndup(at + 1, strlen(at) - 2);
    bool is_address = who && strchr(who, '@') && !strpbrk(who, " <>");
    return is_address ? g_strdup(who) : NULL;
}

bool orch_who_matches(const char *who, const char *text)
{
    if (!who || !text || !*text)
        return false;
    g_autofree char *name = orch_who_name(who);
    g_autofree char *address = orch_who_address(who);
    return strcmp(who, text) == 0 || strcmp(name, text) == 0 ||
           (address && g_ascii_strcasecmp(address, text) == 0);
}

static bool login_is_ignored;

void orch_who_ignore_login(void)
{
    login_is_ignored = true;
}

/* True if `a` is the current user, who has an address, and `b` is their login name. */
static bool is_own_login(const char *a, const char *b)
{
    if (login_is_ignored)
        return false;
    const char *me = orch_user_name();
    return strcmp(a, me) == 0 && bracket(me) && strcmp(b, g_get_user_name()) == 0;
}

bool orch_who_is_same(const char *a, const char *b)
{
    if (!a || !b || !*a || !*b)
        return false;
    g_autofree char *name = orch_who_name(b);
    g_autofree char *address = orch_who_address(b);
    return strcmp(a, b) == 0 || orch_who_matches(a, name) || orch_who_matches(a, address) ||
           is_own_login(a, b) || is_own_login(b, a);
}
