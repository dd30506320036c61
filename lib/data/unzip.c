/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/data/unzip.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { ENTRIES_MAX = 10000, OTHERS_MAX = 100, NAME_BYTES_MAX = 200 };
/* What is taken is compressed itself: an entry that grows beyond this is made to fill a disk. */
#define GROWTH_ALWAYS ((int64_t)16 << 20)
#define GROWTH_MAX 2

static struct {
    struct archive *(*read_new)(void);
    int (*support_format_zip)(struct archive *);
    int (*open_filename)(struct archive *, const char *, size_t);
    int (*next_header)(struct archive *, struct archive_entry **);
    la_ssize_t (*read_data)(struct archive *, void *, size_t);
    int (*free)(struct archive *);
    const char *(*error_string)(struct archive *);
    const char *(*pathname)(struct archive_entry *);
    __LA_MODE_T (*filetype)(struct archive_entry *);
} api;

static const struct {
    const char *name;
    void *place;
} SYMBOLS[] = {
    {"archive_read_new", &api.read_new},
    {"archive_read_support_format_zip", &api.support_format_zip},
    {"archive_read_open_filename", &api.open_filename},
    {"archive_read_next_header", &api.next_header},
    {"archive_read_data", &api.read_data},
    {"archive_read_free", &api.free},
    {"archive_error_string", &api.error_string},
    {"archive_entry_pathname_utf8", &api.pathname},
    {"archive_entry_filetype", &api.filetype},
};

static void *open_library(void *unused)
{
    (void)unused;
    void *library = dlopen("libarchive.so.13", RTLD_NOW);
    library = library ? library : dlopen("libarchive.so", RTLD_NOW);
    for (size_t i = 0; library && i < G_N_ELEMENTS(SYMBOLS); i++) {
        void *symbol = dlsym(library, SYMBOLS[i].name);
        if (!symbol)
            return NULL;
        memcpy(SYMBOLS[i].place, &symbol, sizeof symbol);
    }
    return library;
}

bool orch_zip_is(const char *path)
{
    char bytes[4] = "";
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    FILE *file = fopen(path, "rbe");
    bool is = file && fread(bytes, 1, 4, file) == 4 && memcmp(bytes, "PK\3\4", 4) == 0;
    if (file)
        fclose(file);
    return is;
}

struct taking {
    const char *path, *suffix, *to;
    int64_t bytes_max;
    struct archive *archive;
    char *name; /* of what was taken, or NULL */
    GPtrArray *others;
};

static bool write_entry(const struct taking *t, GError **error)
{
    FILE *file = fopen(t->to, "wbxe");
    if (!file) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", t->to);
        return false;
    }
    g_autofree char *buffer = g_malloc(65536);
    int64_t total = 0;
    la_ssize_t count;
    bool ok = true;
    while (ok && (count = api.read_data(t->archive, buffer, 65536)) > 0) {
        total += count;
        ok = total <= t->bytes_max && fwrite(buffer, 1, (size_t)count, file) == (size_t)count;
    }
    bool is_damaged = ok && count < 0;
    ok = fclose(file) == 0 && ok && !is_damaged;
    if (is_damaged)
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read '%s' in '%s': %s", t->name, t->path,
                       api.error_string(t->archive));
    else if (total > t->bytes_max)
        orch_error_set(error, ORCH_ERROR_IO, NULL,
                       "'%s' in '%s' unpacks to more than %" G_GINT64_FORMAT " bytes", t->name,
                       t->path, t->bytes_max);
    else if (!ok)
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot write '%s'", t->to);
    return ok;
}

static bool take_entry(struct taking *t, struct archive_entry *entry, GError **error)
{
    const char *raw = api.pathname(entry);
    if (api.filetype(entry) != AE_IFREG || !raw)
        return true;
    g_autofree char *name =
        orch_text_line(g_utf8_make_valid(raw, (gssize)strnlen(raw, NAME_BYTES_MAX)));
    if (!g_str_has_suffix(raw, t->suffix)) {
        if (t->others->len < OTHERS_MAX)
            g_ptr_array_add(t->others, g_steal_pointer(&name));
        return true;
    }
    if (t->name) {
        orch_error_set(error, ORCH_ERROR_IO, "unpack it and name the one that is meant",
                       "'%s' holds both '%s' and '%s'", t->path, t->name, name);
        return false;
    }
    t->name = g_steal_pointer(&name);
    return write_entry(t, error);
}

static bool take(struct taking *t, GError **error)
{
    struct archive_entry *entry;
    int status = ARCHIVE_OK;
    if (api.support_format_zip(t->archive) != ARCHIVE_OK ||
        api.open_filename(t->archive, t->path, 65536) != ARCHIVE_OK) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read '%s': %s", t->path,
                       api.error_string(t->archive));
        return false;
    }
    for (int i = 0; i < ENTRIES_MAX; i++) {
        status = api.next_header(t->archive, &entry);
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
            break;
        if (!take_entry(t, entry, error))
            return false;
    }
    if (status == ARCHIVE_EOF && t->name)
        return true;
    if (status == ARCHIVE_EOF)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL, "there is no '*%s' in '%s'", t->suffix,
                       t->path);
    else if (status == ARCHIVE_OK || status == ARCHIVE_WARN)
        orch_error_set(error, ORCH_ERROR_IO, NULL, "'%s' has more than %d entries", t->path,
                       ENTRIES_MAX);
    else
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read '%s': %s", t->path,
                       api.error_string(t->archive));
    return false;
}

bool orch_zip_take(const char *path, const char *suffix, int64_t bytes_max, const char *to,
                   char **out_name, GPtrArray **out_others, GError **error)
{
    static GOnce once = G_ONCE_INIT;
    struct stat info;
    if (!g_once(&once, open_library, NULL)) {
        orch_error_set(error, ORCH_ERROR_IO, "apt install libarchive13, or unpack it yourself",
                       "cannot read '%s': no libarchive on this machine", path);
        return false;
    }
    int64_t packed = stat(path, &info) == 0 ? info.st_size : 0;
    struct taking taking = {.path = path,
                            .suffix = suffix,
                            .to = to,
                            .bytes_max = MIN(bytes_max, GROWTH_ALWAYS + GROWTH_MAX * packed),
                            .archive = api.read_new(),
                            .others = g_ptr_array_new_with_free_func(g_free)};
    bool ok = take(&taking, error);
    api.free(taking.archive);
    if (ok) {
        *out_name = g_steal_pointer(&taking.name);
        *out_others = g_ptr_array_ref(taking.others);
    }
    g_free(taking.name);
    g_ptr_array_unref(taking.others);
    return ok;
}
