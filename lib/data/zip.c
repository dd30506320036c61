/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/data/zip.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <string.h>
#include <time.h>

#define HEADER_BYTES_MAX 1024 /* of an entry besides its bytes and its name, and of its index */

/* libarchive is opened when something is zipped: it brings libxml2 and ICU along, which every other
 * command would wait for. */
static struct {
    struct archive *(*write_new)(void);
    int (*set_format_zip)(struct archive *);
    int (*open_memory)(struct archive *, void *, size_t, size_t *);
    int (*write_header)(struct archive *, struct archive_entry *);
    la_ssize_t (*write_data)(struct archive *, const void *, size_t);
    int (*close)(struct archive *);
    int (*free)(struct archive *);
    const char *(*error_string)(struct archive *);
    struct archive_entry *(*entry_new)(void);
    void (*entry_free)(struct archive_entry *);
    void (*set_pathname)(struct archive_entry *, const char *);
    void (*set_size)(struct archive_entry *, la_int64_t);
    void (*set_filetype)(struct archive_entry *, unsigned int);
    void (*set_perm)(struct archive_entry *, __LA_MODE_T);
    void (*set_mtime)(struct archive_entry *, time_t, long);
} api;

static const struct {
    const char *name;
    void *place;
} SYMBOLS[] = {
    {"archive_write_new", &api.write_new},
    {"archive_write_set_format_zip", &api.set_format_zip},
    {"archive_write_open_memory", &api.open_memory},
    {"archive_write_header", &api.write_header},
    {"archive_write_data", &api.write_data},
    {"archive_write_close", &api.close},
    {"archive_write_free", &api.free},
    {"archive_error_string", &api.error_string},
    {"archive_entry_new", &api.entry_new},
    {"archive_entry_free", &api.entry_free},
    {"archive_entry_set_pathname_utf8", &api.set_pathname},
    {"archive_entry_set_size", &api.set_size},
    {"archive_entry_set_filetype", &api.set_filetype},
    {"archive_entry_set_perm", &api.set_perm},
    {"archive_entry_set_mtime", &api.set_mtime},
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

static bool name_is_safe(const char *name)
{
    g_auto(GStrv) parts = g_strsplit(name, "/", -1);
    return *name && *name != '/' && !strchr(name, '\\') &&
           !g_strv_contains((const char *const *)parts, "..");
}

static bool write_file(struct archive *archive, const struct orch_zip_file *file)
{
    struct archive_entry *entry = api.entry_new();
    api.set_pathname(entry, file->name);
    api.set_size(entry, (la_int64_t)file->length);
    api.set_filetype(entry, AE_IFREG);
    api.set_perm(entry, 0644);
    api.set_mtime(entry, time(NULL), 0);
    bool ok = api.write_header(archive, entry) == ARCHIVE_OK &&
              api.write_data(archive, file->bytes, file->length) == (la_ssize_t)file->length;
    api.entry_free(entry);
    return ok;
}

static bool fill(struct archive *archive, const struct orch_zip_file *files, size_t count,
                 void *bytes, size_t most, size_t *used)
{
    bool ok = api.set_format_zip(archive) == ARCHIVE_OK &&
              api.open_memory(archive, bytes, most, used) == ARCHIVE_OK;
    for (size_t i = 0; ok && i < count; i++)
        ok = write_file(archive, &files[i]);
    return ok && api.close(archive) == ARCHIVE_OK;
}

bool orch_zip_write(const char *path, const struct orch_zip_file *files, size_t count,
                    GError **error)
{
    static GOnce once = G_ONCE_INIT;
    size_t most = HEADER_BYTES_MAX;
    for (size_t i = 0; i < count; i++) {
        if (!name_is_safe(files[i].name)) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL, "'%s' is no name for a file in a ZIP",
                           files[i].name);
            return false;
        }
        /* what cannot be made smaller grows a little */
        most +=
            files[i].length + files[i].length / 100 + 2 * strlen(files[i].name) + HEADER_BYTES_MAX;
    }
    if (!g_once(&once, open_library, NULL)) {
        orch_error_set(error, ORCH_ERROR_IO, "apt install libarchive13",
                       "cannot write '%s': no libarchive on this machine", path);
        return false;
    }
    struct archive *archive = api.write_new();
    g_autofree char *bytes = g_malloc(most);
    size_t used = 0;
    bool ok = fill(archive, files, count, bytes, most, &used);
    if (!ok)
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot write '%s': libarchive: %s", path,
                       api.error_string(archive));
    api.free(archive);
    return ok && orch_file_write(path, bytes, used, true, error);
}
