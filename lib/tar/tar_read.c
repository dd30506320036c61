/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tar archive is a sequence of 512-byte headers, each followed by its data, padded to 512 bytes
 * (POSIX pax, "ustar interchange format"). This reader replaces libarchive: only plain tar and
 * tar.gz are needed, zlib is linked already, and formats that are not supported cannot be attacked
 * (docs/decisions/archives.md). */
#include "lib/tar/tar_read.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/tar/tar_head.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { NAME_MAX_BYTES = 4096, ENTRIES_MAX = 5000000 };
#define BYTES_MAX (INT64_C(64) << 30)

struct orch_tar {
    char *path;
    gzFile file;
    int64_t bytes_max;
    int64_t offset;   /* in the unpacked stream */
    int64_t count;    /* headers read */
    char *long_name;  /* of the next entry, from a pax or GNU header */
    int64_t pax_size; /* of the next entry; -1: none */
    char *name;
    int64_t left; /* bytes of the entry's data not yet read */
    int64_t pad;  /* padding after them */
    bool ended;
    struct orch_tar_entry entry;
};

bool orch_tar_refuse(const struct orch_tar *tar, GError **error, const char *what)
{
    orch_error_set(error, ORCH_ERROR_IO, "download the archive again",
                   "archive '%s', byte %" G_GINT64_FORMAT ": %s", tar->path, tar->offset, what);
    return false;
}

/* zlib's message without "<fd:N>: ", the name that it has for a file opened by its descriptor. */
static const char *reason(gzFile file, int *out_code)
{
    const char *text = gzerror(file, out_code);
    const char *end = g_str_has_prefix(text, "<fd:") ? strstr(text, ">: ") : NULL;
    return end ? end + strlen(">: ") : text;
}

/* Reads at most `length` bytes; -1 with an error. */
static int read_some(struct orch_tar *tar, void *out, size_t length, GError **error)
{
    int n = gzread(tar->file, out, (unsigned)MIN(length, (size_t)1 << 30));
    int code;
    const char *text = reason(tar->file, &code);
    if (n > 0)
        tar->offset += n;
    if (tar->offset > tar->bytes_max) {
        orch_tar_refuse(tar, error, "the archive's files are larger than allowed");
        return -1;
    }
    if (n >= 0 && code == Z_OK)
        return n;
    if (n > 0)
        return n; /* the error is reported by the next call */
    orch_tar_refuse(tar, error, code == Z_BUF_ERROR ? "the archive is truncated" : text);
    return -1;
}

static bool read_bytes(struct orch_tar *tar, void *out, size_t length, GError **error)
{
    while (length) {
        int n = read_some(tar, out, length, error);
        if (n < 0 || (n == 0 && !orch_tar_refuse(tar, error, "the archive is truncated")))
            return false;
        out = (uint8_t *)out + n;
        length -= (size_t)n;
    }
    return true;
}

static bool skip(struct orch_tar *tar, int64_t length, GError **error)
{
    uint8_t buffer[16 * ORCH_TAR_BLOCK];
    while (length > 0) {
        size_t part = (size_t)MIN(length, (int64_t)sizeof buffer);
        if (!read_bytes(tar, buffer, part, error))
            return false;
        length -= (int64_t)part;
    }
    return true;
}

/* Octal digits, ended by a space or NUL; or big-endian binary if the top bit is set (GNU). -1 if
 * invalid. */
static int64_t parse_number(const char *field, size_t length)
{
    int64_t value = 0;
    size_t i = 0;
    if ((uint8_t)field[0] & 0x80) {
        for (i = 1; i < length; i++) {
            if (value >> 54)
                return -1;
            value = value << 8 | (uint8_t)field[i];
        }
        return value;
    }
    while (i < length && field[i] == ' ')
        i++;
    for (; i < length && field[i] && field[i] != ' '; i++) {
        if (field[i] < '0' || field[i] > '7')
            return -1;
        value = value << 3 | (field[i] - '0');
    }
    return value;
}

/* Sum of the header's bytes, with the checksum field counted as spaces. */
static bool checksum_is_right(const struct orch_tar_head *head)
{
    const uint8_t *bytes = (const uint8_t *)head;
    const size_t from = G_STRUCT_OFFSET(struct orch_tar_head, checksum);
    int64_t sum = 0;
    for (size_t i = 0; i < ORCH_TAR_BLOCK; i++)
        sum += i >= from && i < from + sizeof head->checksum ? ' ' : bytes[i];
    return sum == parse_number(head->checksum, sizeof head->checksum);
}

static bool is_zero(const struct orch_tar_head *head)
{
    static const struct orch_tar_head zero;
    return memcmp(head, &zero, sizeof zero) == 0;
}

char *orch_tar_safe_name(const char *name)
{
    if (name[0] == '/' || strlen(name) >= NAME_MAX_BYTES || !g_utf8_validate(name, -1, NULL))
        return NULL;
    g_auto(GStrv) words = g_strsplit(name, "/", -1);
    GString *out = g_string_new(NULL);
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], "..") == 0) {
            g_string_free(out, TRUE);
            return NULL;
        }
        if (*words[i] && strcmp(words[i], ".") != 0)
            g_string_append_printf(out, "%s%s", out->len ? "/" : "", words[i]);
    }
    return g_string_free(out, FALSE);
}

static char *entry_name(struct orch_tar *tar, const struct orch_tar_head *head)
{
    if (tar->long_name)
        return g_steal_pointer(&tar->long_name);
    g_autofree char *name = g_strndup(head->name, sizeof head->name);
    if (memcmp(head->magic, "ustar\0", 6) != 0 || !head->prefix[0])
        return g_steal_pointer(&name);
    g_autofree char *prefix = g_strndup(head->prefix, sizeof head->prefix);
    return g_strconcat(prefix, "/", name, NULL);
}

/* Parses records "LENGTH key=value\n", of which path and size are used. */
static bool take_pax(struct orch_tar *tar, char *text, int64_t length, GError **error)
{
    for (char *at = text; at < text + length;) {
        char *rest;
        guint64 record = g_ascii_strtoull(at, &rest, 10);
        if (rest == at || *rest != ' ' || record < (guint64)(rest - at) + 3 ||
            record > (guint64)(text + length - at))
            return orch_tar_refuse(tar, error, "an extended header is damaged");
        at[record - 1] = '\0';
        if (g_str_has_prefix(rest + 1, "path=")) {
            g_free(tar->long_name);
            tar->long_name = g_strdup(rest + 1 + strlen("path="));
        } else if (g_str_has_prefix(rest + 1, "size=")) {
            tar->pax_size = (int64_t)g_ascii_strtoull(rest + 1 + strlen("size="), NULL, 10);
        }
        at += record;
    }
    return true;
}

/* Reads a header about the next entry: pax ('x') or GNU's long name ('L'). */
static bool take_extension(struct orch_tar *tar, char type, int64_t size, GError **error)
{
    if (size <= 0 || size > 1 << 20)
        return orch_tar_refuse(tar, error, "an extended header of this size is not supported");
    g_autofree char *text = g_malloc0((gsize)size + 1);
    if (!read_bytes(tar, text, (size_t)size, error) || !skip(tar, orch_tar_padding(size), error))
        return false;
    if (type == 'x')
        return take_pax(tar, text, size, error);
    g_free(tar->long_name);
    tar->long_name = g_strdup(text);
    return true;
}

static enum orch_tar_kind kind_of(char type)
{
    if (type == '0' || type == '7' || type == '\0')
        return ORCH_TAR_FILE;
    return type == '5' ? ORCH_TAR_FOLDER : ORCH_TAR_OTHER;
}

/* Reads to the end, where the compression's checksum is. */
static bool finish(struct orch_tar *tar, GError **error)
{
    uint8_t buffer[16 * ORCH_TAR_BLOCK];
    int n;
    tar->ended = true;
    while ((n = read_some(tar, buffer, sizeof buffer, error)) > 0)
        ;
    return n == 0;
}

/* Reads one header. Sets `*out_found` if it is an entry, not an extension of the next one. */
static bool take_head(struct orch_tar *tar, bool *out_found, GError **error)
{
    struct orch_tar_head head;
    if (!read_bytes(tar, &head, sizeof head, error))
        return false;
    if (is_zero(&head))
        return finish(tar, error);
    int64_t size = tar->pax_size >= 0 ? tar->pax_size : parse_number(head.size, sizeof head.size);
    if (!checksum_is_right(&head) || size < 0 || size > BYTES_MAX)
        return orch_tar_refuse(tar, error, "this is not a tar header (its checksum is wrong)");
    tar->pax_size = -1;
    if (head.type == 'x' || head.type == 'L')
        return take_extension(tar, head.type, size, error);
    if (head.type == 'g' || head.type == 'K')
        return skip(tar, size + orch_tar_padding(size), error);
    g_free(tar->name);
    tar->name = entry_name(tar, &head);
    tar->left = size;
    tar->pad = orch_tar_padding(size);
    tar->entry = (struct orch_tar_entry){tar->name, kind_of(head.type), head.type, size};
    *out_found = true;
    return true;
}

bool orch_tar_next(struct orch_tar *tar, const struct orch_tar_entry **out, GError **error)
{
    bool found = false;
    if (!tar->ended && !skip(tar, tar->left + tar->pad, error))
        return false;
    tar->left = tar->pad = 0;
    while (!found && !tar->ended) {
        if (tar->count++ >= ENTRIES_MAX)
            return orch_tar_refuse(tar, error, "the archive has too many entries");
        if (!take_head(tar, &found, error))
            return false;
    }
    *out = found ? &tar->entry : NULL;
    return true;
}

bool orch_tar_read(struct orch_tar *tar, void *out, size_t length, GError **error)
{
    g_assert((int64_t)length <= tar->left);
    tar->left -= (int64_t)length;
    return read_bytes(tar, out, length, error);
}

struct orch_tar *orch_tar_open(const char *path, int64_t bytes_max, GError **error)
{
    int fd = orch_file_open(path, error);
    if (fd < 0)
        return NULL;
    gzFile file = gzdopen(fd, "rb"); /* closes the descriptor with itself */
    if (!file) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read '%s': out of memory", path);
        close(fd);
        return NULL;
    }
    struct orch_tar *tar = g_new0(struct orch_tar, 1);
    gzbuffer(file, 1 << 18);
    tar->path = g_strdup(path);
    tar->file = file;
    tar->bytes_max = bytes_max ? bytes_max : BYTES_MAX;
    tar->pax_size = -1;
    return tar;
}

void orch_tar_close(struct orch_tar *tar)
{
    if (!tar)
        return;
    gzclose(tar->file);
    g_free(tar->long_name);
    g_free(tar->name);
    g_free(tar->path);
    g_free(tar);
}
