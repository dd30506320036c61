/* SPDX-License-Identifier: MIT */
/* Uses RTLD_NOW, so that a missing symbol is found here and not in the middle of a trial;
 * RTLD_LOCAL, so that libraries with the same symbols do not interfere; and an absolute path, so
 * that no search path is used. */
#include "core/host/plugin_load.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/write_all.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- a private copy of the plugin ---------------------------------------------------------------
 */

/* Uses a sealed memfd. If the kernel does not allow executable memfds (sysctl vm.memfd_noexec=2),
 * uses an unlinked temporary file, which only this user can access. */

#define PLUGIN_BYTES_MAX ((size_t)1 << 30)
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

static int nameless_file(void)
{
    int fd = memfd_create("orch-plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
    if (fd < 0 && errno == EINVAL) /* before Linux 6.3 every memfd is executable */
        fd = memfd_create("orch-plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0)
        return fd;
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "orch-plugin-XXXXXX", NULL);
    fd = g_mkstemp_full(path, O_RDWR | O_CLOEXEC, 0700);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* Copies the plugin at `path` to memory that is sealed against writing, and checks its SHA-256.
 * Returns a close-on-exec descriptor, to be kept open while the plugin is loaded, or -1 with
 * ORCH_ERROR_PLUGIN if the file cannot be read or has another digest. */
static int private_copy_open(const char *path, const char *sha256, GError **error)
{
    g_autofree char *bytes = NULL;
    size_t length = 0;
    char found[ORCH_SHA256_CHARS];
    if (!orch_file_read(path, PLUGIN_BYTES_MAX, &bytes, &length, error)) {
        (*error)->code = ORCH_ERROR_PLUGIN;
        return -1;
    }
    orch_sha256(bytes, length, found);
    if (strcmp(found, sha256) != 0) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, "run the same command again",
                       "plugin '%s' changed since it was checked: expected SHA-256 %.12s..., found "
                       "%.12s...",
                       path, sha256, found);
        return -1;
    }
    int fd = nameless_file();
    if (fd < 0 || !orch_write_all(fd, bytes, length)) {
        orch_error_set_errno(error, ORCH_ERROR_PLUGIN, errno, "cannot copy plugin '%s'", path);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    return fd;
}

/* ---- loading ------------------------------------------------------------------------------------
 */

enum { ROWS_MAX = 4096, STRIDE_MAX = 65536 };

#define REBUILD "rebuild the plugin against this orch's include/orch/plugin.h"

static bool refuse(GError **error, const char *path, const char *hint, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
static bool refuse(GError **error, const char *path, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    orch_error_set(error, ORCH_ERROR_PLUGIN, hint, "cannot load plugin '%s': %s", path, what);
    return false;
}

/* ---- finding the descriptor -------------------------------------------------------------------
 */

typedef const struct orch_plugin *(*entry_point)(void);

static bool no_entry_point(void *library, const char *path, GError **error)
{
    for (int major = 1; major < 10; major++) {
        g_autofree char *symbol = g_strdup_printf("orch_plugin_v%d", major);
        if (major != ORCH_ABI_MAJOR && dlsym(library, symbol))
            return refuse(error, path, REBUILD, "built for ABI %d, but this orch accepts %d", major,
                          ORCH_ABI_MAJOR);
    }
    return refuse(error, path, "put ORCH_PLUGIN_EXPORT(...) into one of the plugin's files",
                  "the plugin does not export the symbol '%s'", ORCH_PLUGIN_SYMBOL);
}

/* The path to load: the file itself or, with a digest, a private copy, which stays open. It
 * contains this process's id instead of "self", so that a debugger can open it. */
static char *orch_path_to_map(const char *path, const char *sha256, GError **error)
{
    if (!sha256)
        return g_strdup(path);
    int fd = private_copy_open(path, sha256, error);
    return fd < 0 ? NULL : g_strdup_printf("/proc/%d/fd/%d", (int)getpid(), fd);
}

static const struct orch_plugin *map(const char *path, const char *sha256, double *out_ms,
                                     GError **error)
{
    g_autofree char *mapped = orch_path_to_map(path, sha256, error);
    if (!mapped)
        return NULL;
    int64_t begin = orch_mono_ns();
    void *library = dlopen(mapped, RTLD_NOW | RTLD_LOCAL);
    *out_ms = (double)(orch_mono_ns() - begin) / 1e6;
    if (!library) {
        const char *why = dlerror();
        const char *hint = strstr(why, "undefined symbol")
                               ? "link the library that has the symbol (-Wl,-z,defs finds this "
                                 "when the plugin is built)"
                               : NULL;
        if (g_str_has_prefix(why, mapped) && why[strlen(mapped)] == ':')
            why += strlen(mapped) + 2;
        refuse(error, path, hint, "%s", why);
        return NULL;
    }
    entry_point get = NULL;
    *(void **)&get = dlsym(library, ORCH_PLUGIN_SYMBOL); /* conversion as described by POSIX */
    if (!get) {
        no_entry_point(library, path, error);
        return NULL;
    }
    const struct orch_plugin *plugin = get();
    if (!plugin)
        refuse(error, path, NULL, "'%s' returned NULL", ORCH_PLUGIN_SYMBOL);
    return plugin;
}

/* ---- the descriptor's own fields --------------------------------------------------------------
 */

/* Minimum sizes, those of ABI 1.0; later minor versions only append. */
static bool sizes_are_valid(const struct orch_plugin *plugin, const char *path, GError **error)
{
    const struct {
        const char *field;
        uint32_t found;
        size_t expected;
    } rows[] = {
        {"struct_bytes", plugin->struct_bytes, sizeof(struct orch_plugin)},
        {"param_stride", plugin->param_stride, offsetof(struct orch_param, label)},
        {"metric_stride", plugin->metric_stride, offsetof(struct orch_metric, label)},
        {"artifact_stride", plugin->artifact_stride, sizeof(struct orch_artifact)},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (rows[i].found < rows[i].expected || rows[i].found > STRIDE_MAX)
            return refuse(error, path,
                          "begin the descriptor with ORCH_PLUGIN_HEAD, and rebuild the plugin",
                          "descriptor field '%s': expected at least %zu, found %u", rows[i].field,
                          rows[i].expected, rows[i].found);
    }
    return true;
}

static bool head_is_valid(const struct orch_plugin *plugin, const char *path, GError **error)
{
    if (plugin->magic != ORCH_PLUGIN_MAGIC)
        return refuse(error, path, "begin the descriptor with ORCH_PLUGIN_HEAD",
                      "descriptor field 'magic': expected 0x%016" G_GINT64_MODIFIER
                      "x, found 0x%016" G_GINT64_MODIFIER "x",
                      ORCH_PLUGIN_MAGIC, plugin->magic);
    if (plugin->abi_major != ORCH_ABI_MAJOR)
        return refuse(error, path, REBUILD,
                      "descriptor field 'abi_major': built for ABI %u, but this orch accepts %d",
                      plugin->abi_major, ORCH_ABI_MAJOR);
    return sizes_are_valid(plugin, path, error);
}

static bool tables_are_valid(const struct orch_plugin *plugin, const char *path, GError **error)
{
    const struct {
        const char *field;
        const void *rows;
        size_t count;
    } tables[] = {{"params", plugin->params, plugin->param_count},
                  {"metrics", plugin->metrics, plugin->metric_count},
                  {"artifacts", plugin->artifacts, plugin->artifact_count}};
    for (unsigned i = 0; i < G_N_ELEMENTS(tables); i++) {
        if (tables[i].count > ROWS_MAX || (tables[i].count && !tables[i].rows))
            return refuse(error, path, "fill the tables of the descriptor with ORCH_TABLE",
                          "descriptor table '%s': expected at most %d rows, found %zu%s",
                          tables[i].field, ROWS_MAX, tables[i].count,
                          tables[i].rows ? "" : " at NULL");
    }
    return true;
}

static bool body_is_valid(const struct orch_plugin *plugin, const char *path, GError **error)
{
    const struct {
        const char *field;
        const void *value;
    } texts[] = {{"name", plugin->name},
                 {"version", plugin->version},
                 {"summary", plugin->summary},
                 {"licence", plugin->licence}};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        if (!texts[i].value)
            return refuse(error, path, "set this field in the descriptor",
                          "descriptor field '%s': expected text, found NULL", texts[i].field);
    if (!plugin->run)
        return refuse(error, path, "set this field in the descriptor",
                      "descriptor field 'run': expected a function, found NULL");
    return tables_are_valid(plugin, path, error);
}

/* ---- the manifest -----------------------------------------------------------------------------
 */

static const void *row_at(const void *rows, size_t stride, size_t i)
{
    return (const char *)rows + stride * i;
}

/* Whether the rows of a table, each `stride` bytes long, have a member that ABI 1.0 has not. */
#define HAS(stride, type, member)                                                                  \
    ((stride) >= offsetof(type, member) + sizeof(((const type *)NULL)->member))

static void copy_tables(const struct orch_plugin *plugin, struct orch_manifest *manifest)
{
    for (size_t i = 0; i < plugin->param_count; i++) {
        const struct orch_param *row = row_at(plugin->params, plugin->param_stride, i);
        struct orch_param_spec *spec = orch_manifest_add_param(manifest, row->name, row->type);
        spec->flags = row->flags;
        spec->offset = row->offset;
        spec->unit = g_strdup(row->unit);
        spec->min = g_strdup(row->min);
        spec->max = g_strdup(row->max);
        spec->def = g_strdup(row->def);
        spec->help = g_strdup(row->help);
        if (HAS(plugin->param_stride, struct orch_param, label))
            spec->label = g_strdup(row->label);
        spec->choices = g_strdupv((char **)(uintptr_t)row->choices);
    }
    for (size_t i = 0; i < plugin->metric_count; i++) {
        const struct orch_metric *row = row_at(plugin->metrics, plugin->metric_stride, i);
        struct orch_metric_spec *spec = orch_manifest_add_metric(manifest, row->name);
        spec->better =
            row->better <= ORCH_BETTER_MAX ? (enum orch_better)row->better : ORCH_BETTER_NONE;
        spec->unit = g_strdup(row->unit);
        spec->step_unit = g_strdup(row->step_unit);
        spec->help = g_strdup(row->help);
        if (!HAS(plugin->metric_stride, struct orch_metric, max))
            continue;
        spec->label = g_strdup(row->label);
        spec->min = g_strdup(row->min);
        spec->max = g_strdup(row->max);
    }
    for (size_t i = 0; i < plugin->artifact_count; i++) {
        const struct orch_artifact *row = row_at(plugin->artifacts, plugin->artifact_stride, i);
        orch_manifest_add_artifact(manifest, row->name)->help = g_strdup(row->help);
    }
}

static struct orch_manifest *make_manifest(const struct orch_plugin *plugin, const char *path)
{
    struct orch_manifest *manifest = orch_manifest_new();
    manifest->kind = ORCH_PLUGIN_COMPILED;
    manifest->path = g_strdup(path);
    manifest->name = g_strdup(plugin->name);
    manifest->version = g_strdup(plugin->version);
    manifest->build = g_strdup(plugin->build);
    manifest->summary = g_strdup(plugin->summary);
    manifest->licence = g_strdup(plugin->licence);
    manifest->flags = plugin->flags;
    manifest->needs = plugin->needs;
    manifest->abi_major = plugin->abi_major;
    manifest->abi_minor = plugin->abi_minor;
    manifest->has_check = plugin->check != NULL;
    manifest->has_cost = plugin->cost != NULL;
    copy_tables(plugin, manifest);
    return manifest;
}

/* Size of a parameter in the plugin's struct. */
static size_t param_bytes(const struct orch_param_spec *spec)
{
    if (spec->type & ORCH_LIST)
        return sizeof(struct orch_list);
    return spec->type == ORCH_BOOL ? sizeof(bool) : sizeof(int64_t);
}
G_STATIC_ASSERT(sizeof(int64_t) == sizeof(double));

static bool manifest_is_valid(const struct loaded_plugin *loaded, const char *path, GError **error)
{
    const struct orch_manifest *manifest = loaded->manifest;
    g_autofree char *problem = orch_manifest_problem(manifest);
    if (problem)
        return refuse(error, path, NULL, "%s", problem);
    g_autofree char *file = g_path_get_basename(path);
    g_autofree char *expected = g_strconcat(manifest->name, ".so", NULL);
    if (strcmp(file, expected) != 0)
        return refuse(error, path, "rename the file or the plugin",
                      "descriptor field 'name': expected the file's name, found '%s'",
                      manifest->name);
    for (guint i = 0; i < manifest->params->len; i++) {
        const struct orch_param_spec *spec = manifest->params->pdata[i];
        size_t bytes = param_bytes(spec), total = loaded->plugin.params_bytes;
        if (spec->offset > total || total - spec->offset < bytes)
            return refuse(error, path, "set params_bytes to the size of the parameter struct",
                          "parameter '%s': its %zu bytes at offset %zu are outside the struct "
                          "of %zu bytes",
                          spec->name, bytes, spec->offset, total);
    }
    return true;
}

bool orch_plugin_load(const char *path, const char *sha256, struct loaded_plugin *out,
                      GError **error)
{
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    struct loaded_plugin loaded = {.load_ms = 0};
    const struct orch_plugin *found = map(absolute, sha256, &loaded.load_ms, error);
    if (!found || !head_is_valid(found, absolute, error))
        return false;
    memcpy(&loaded.plugin, found, MIN(found->struct_bytes, sizeof loaded.plugin));
    if (!body_is_valid(&loaded.plugin, absolute, error))
        return false;
    loaded.manifest = make_manifest(&loaded.plugin, absolute);
    if (!manifest_is_valid(&loaded, absolute, error)) {
        orch_loaded_plugin_clear(&loaded);
        return false;
    }
    *out = loaded;
    return true;
}

void orch_loaded_plugin_clear(struct loaded_plugin *loaded)
{
    orch_manifest_free(loaded->manifest);
    loaded->manifest = NULL;
}
