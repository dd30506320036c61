/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tar archive is a row of 512-byte heads, each followed by its data, padded to 512 bytes (POSIX
 * pax, "ustar interchange format"). A reader of our own instead of libarchive: the archives of the
 * catalogue are plain tar and tar.gz, zlib is here already, and what is not read cannot be attacked
 * (docs/decisions/tar-reader.md). */
#include "lib/data/tar.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 512, NAME_MAX_BYTES = 4096, ENTRIES_MAX = 5000000 };
#define BYTES_MAX (INT64_C(64) << 30)

struct head {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
G_STATIC_ASSERT(sizeof(struct head) == BLOCK);

struct reader {
    const char *path, *folder;
    const struct orch_tar_options *options;
    gzFile file;
    int64_t offset;   /* in the unpacked stream */
    int64_t unpacked; /* bytes of files */
    char *long_name;  /* of the next entry, from a pax or GNU head */
    int64_t pax_size; /* of the next entry; -1: none */
    bool found;       /* options->only */
};

static bool refuse(const struct reader *r, GError **error, const char *what)
{
    orch_error_set(error, ORCH_ERROR_IO, "nothing of it was kept: get the archive again",
                   "archive '%s', byte %" G_GINT64_FORMAT ": %s", r->path, r->offset, what);
    return false;
}

static bool read_bytes(struct reader *r, void *out, size_t length, GError **error)
{
    int n = gzread(r->file, out, (unsigned)length);
    if (n == (int)length) {
        r->offset += n;
        return true;
    }
    int code;
    const char *text = gzerror(r->file, &code);
    r->offset += MAX(n, 0);
    return refuse(r, error, code == Z_OK || code == Z_BUF_ERROR ? "the archive is cut off" : text);
}

static bool skip(struct reader *r, int64_t length, GError **error)
{
    uint8_t buffer[16 * BLOCK];
    while (length > 0) {
        size_t part = (size_t)MIN(length, (int64_t)sizeof buffer);
        if (!read_bytes(r, buffer, part, error))
            return false;
        length -= (int64_t)part;
    }
    return true;
}

static int64_t padding(int64_t size)
{
    return (BLOCK - size % BLOCK) % BLOCK;
}

/* Octal digits, ended by space or NUL; with the top bit set big-endian binary (GNU). -1: neither.
 */
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

/* The sum of the head's bytes, its own field taken as spaces. */
static bool checksum_is_right(const struct head *head)
{
    const uint8_t *bytes = (const uint8_t *)head;
    const size_t from = G_STRUCT_OFFSET(struct head, checksum);
    int64_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= from && i < from + sizeof head->checksum ? ' ' : bytes[i];
    return sum == parse_number(head->checksum, sizeof head->checksum);
}

static bool is_zero(const struct head *head)
{
    static const struct head zero;
    return memcmp(head, &zero, sizeof zero) == 0;
}

/* The entry's name without "./" and final "/"; NULL: not one that stays in its folder. */
static char *safe_name(const char *name)
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

static char *entry_name(struct reader *r, const struct head *head)
{
    if (r->long_name)
        return g_steal_pointer(&r->long_name);
    g_autofree char *name = g_strndup(head->name, sizeof head->name);
    if (memcmp(head->magic, "ustar\0", 6) != 0 || !head->prefix[0])
        return g_steal_pointer(&name);
    g_autofree char *prefix = g_strndup(head->prefix, sizeof head->prefix);
    return g_strconcat(prefix, "/", name, NULL);
}

/* Records "LENGTH key=value\n"; of them path and size matter. */
static bool take_pax(struct reader *r, char *text, int64_t length, GError **error)
{
    for (char *at = text; at < text + length;) {
        char *rest;
        guint64 record = g_ascii_strtoull(at, &rest, 10);
        if (rest == at || *rest != ' ' || record < (guint64)(rest - at) + 3 ||
            record > (guint64)(text + length - at))
            return refuse(r, error, "an extended head is damaged");
        at[record - 1] = '\0';
        if (g_str_has_prefix(rest + 1, "path=")) {
            g_free(r->long_name);
            r->long_name = g_strdup(rest + 1 + strlen("path="));
        } else if (g_str_has_prefix(rest + 1, "size=")) {
            r->pax_size = (int64_t)g_ascii_strtoull(rest + 1 + strlen("size="), NULL, 10);
        }
        at += record;
    }
    return true;
}

/* A head that speaks of the next entry: pax ('x') or GNU's long name ('L'). */
static bool take_extension(struct reader *r, char type, int64_t size, GError **error)
{
    if (size <= 0 || size > 1 << 20)
        return refuse(r, error, "an extended head of this size is not read");
    g_autofree char *text = g_malloc0((gsize)size + 1);
    if (!read_bytes(r, text, (size_t)size, error) || !skip(r, padding(size), error))
        return false;
    if (type == 'x')
        return take_pax(r, text, size, error);
    g_free(r->long_name);
    r->long_name = g_strdup(text);
    return true;
}

static bool write_all(int fd, const uint8_t *bytes, size_t length)
{
    while (length) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno != EINTR)
            return false;
        bytes += MAX(n, 0);
        length -= (size_t)MAX(n, 0);
    }
    return true;
}

static bool copy_out(struct reader *r, int fd, const char *path, int64_t size, GError **error)
{
    uint8_t buffer[64 * BLOCK];
    while (size > 0) {
        size_t part = (size_t)MIN(size, (int64_t)sizeof buffer);
        if (!read_bytes(r, buffer, part, error))
            return false;
        if (!write_all(fd, buffer, part)) {
            orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
            return false;
        }
        size -= (int64_t)part;
        r->unpacked += (int64_t)part;
    }
    if (r->options->progress && !r->options->progress(r->options->ctx, r->unpacked)) {
        orch_error_set(error, ORCH_ERROR_INTERRUPTED, NULL, "unpacking '%s' was stopped", r->path);
        return false;
    }
    return true;
}

static bool take_file(struct reader *r, const char *name, int64_t size, GError **error)
{
    g_autofree char *path = g_build_filename(r->folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    int64_t most = r->options->bytes_max ? r->options->bytes_max : BYTES_MAX;
    if (size > most - r->unpacked)
        return refuse(r, error, "its files are larger than allowed");
    if (!orch_dir_make(parent, error))
        return false;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
        return false;
    }
    bool ok = copy_out(r, fd, path, size, error);
    if (close(fd) != 0 && ok) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
        ok = false;
    }
    return ok && skip(r, padding(size), error);
}

static bool take_folder(struct reader *r, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(r->folder, name, NULL);
    return r->options->only || orch_dir_make(path, error);
}

static bool take_entry(struct reader *r, const struct head *head, int64_t size, GError **error)
{
    g_autofree char *raw = entry_name(r, head);
    g_autofree char *name = safe_name(raw);
    g_autofree char *what = NULL;
    bool wanted = name && (!r->options->only || strcmp(name, r->options->only) == 0);
    if (!name) {
        what = g_strdup_printf("'%.200s' would lie outside the folder", raw);
        return refuse(r, error, what);
    }
    switch (head->type) {
    case '5':
        return take_folder(r, name, error) && skip(r, size + padding(size), error);
    case '0':
    case '7':
    case '\0':
        r->found = r->found || wanted;
        return wanted ? take_file(r, name, size, error) : skip(r, size + padding(size), error);
    default:
        what = g_strdup_printf("'%.200s' is a link or a device (type '%c'), which is not unpacked",
                               raw, g_ascii_isprint(head->type) ? head->type : '?');
        return refuse(r, error, what);
    }
}

/* One head and what follows it; `*out_end` at the archive's end. */
static bool take_next(struct reader *r, bool *out_end, GError **error)
{
    struct head head;
    if (!read_bytes(r, &head, sizeof head, error))
        return false;
    *out_end = is_zero(&head);
    if (*out_end)
        return true;
    int64_t size = r->pax_size >= 0 ? r->pax_size : parse_number(head.size, sizeof head.size);
    if (!checksum_is_right(&head) || size < 0 || size > BYTES_MAX)
        return refuse(r, error, "no head of a tar archive (its checksum is wrong)");
    r->pax_size = -1;
    if (head.type == 'x' || head.type == 'L')
        return take_extension(r, head.type, size, error);
    if (head.type == 'g' || head.type == 'K')
        return skip(r, size + padding(size), error);
    return take_entry(r, &head, size, error);
}

bool orch_tar_unpack(const char *path, const char *folder, const struct orch_tar_options *options,
                     GError **error)
{
    static const struct orch_tar_options none;
    struct reader r = {
        .path = path, .folder = folder, .options = options ? options : &none, .pax_size = -1};
    bool ok = true, end = false;
    r.file = gzopen(path, "rbe");
    if (!r.file) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read '%s'", path);
        return false;
    }
    gzbuffer(r.file, 1 << 18);
    for (int64_t count = 0; ok && !end; count++) {
        ok = take_next(&r, &end, error);
        if (ok && count >= ENTRIES_MAX)
            ok = refuse(&r, error, "it has too many entries");
    }
    if (ok && r.options->only && !r.found) {
        g_autofree char *what = g_strdup_printf("it ends without '%s'", r.options->only);
        ok = refuse(&r, error, what);
    }
    g_free(r.long_name);
    gzclose(r.file);
    return ok;
}
