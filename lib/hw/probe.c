/* SPDX-License-Identifier: MIT */
#include "lib/hw/probe.h"

#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#define TEXT_BYTES_MAX 65536

char *orch_probe_text(const char *root, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *path = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *full = g_strconcat(root, path, NULL);
    int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    GString *text = g_string_new(NULL);
    char buffer[4096];
    ssize_t n;
    while (text->len < TEXT_BYTES_MAX && (n = read(fd, buffer, sizeof buffer)) > 0)
        g_string_append_len(text, buffer, n);
    close(fd);
    while (text->len && text->str[text->len - 1] == '\n')
        g_string_truncate(text, text->len - 1);
    return g_string_free(text, FALSE);
}
