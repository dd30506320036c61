/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes git object ids: a blob is "blob N\0bytes"; a tree is "tree N\0" and, for each member,
 * its mode, name and id, sorted by name, where a folder's name counts as if it ended in a slash. */
#include "features/pack/listed.h"

#include "lib/base/error.h"
#include "lib/vcs/backend.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES_MAX = 1024, RAW_ID_MAX = 32 };

/* ---- lists -------------------------------------------------------------------------------------
 */

static void free_file(gpointer pointer)
{
    struct orch_tree_file *file = pointer;
    g_free(file->path);
    g_free(file);
}

GPtrArray *orch_tree_files_new(void)
{
    return g_ptr_array_new_with_free_func(free_file);
}

bool orch_tree_path_is_valid(const char *path)
{
    if (!*path || strlen(path) > PATH_BYTES_MAX || !g_utf8_validate(path, -1, NULL))
        return false;
    g_auto(GStrv) parts = g_strsplit(path, "/", -1);
    for (char **part = parts; *part; part++)
        if (!**part || strcmp(*part, ".") == 0 || strcmp(*part, "..") == 0)
            return false;
    return true;
}

bool orch_tree_files_add(GPtrArray *files, const char *path, unsigned mode, const char *oid)
{
    static const unsigned modes[] = {ORCH_MODE_FILE, ORCH_MODE_PROGRAM, ORCH_MODE_LINK,
                                     ORCH_MODE_SUBMODULE};
    bool known = false;
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++)
        known = known || mode == modes[i];
    size_t digits = strlen(oid);
    if (!known || !orch_tree_path_is_valid(path) || (digits != 40 && digits != 64) ||
        strspn(oid, "0123456789abcdef") != digits)
        return false;
    struct orch_tree_file *file = g_new0(struct orch_tree_file, 1);
    file->path = g_strdup(path);
    file->mode = mode;
    g_strlcpy(file->oid, oid, sizeof file->oid);
    g_ptr_array_add(files, file);
    return true;
}

GPtrArray *orch_vcs_files(struct orch_vcs *vcs, const char *tree, GError **error)
{
    const GPtrArray *entries = orch_tree_entries(vcs, tree, error);
    if (!entries)
        return NULL;
    GPtrArray *files = orch_tree_files_new();
    for (guint i = 0; i < entries->len; i++) {
        const struct orch_entry *entry = entries->pdata[i];
        orch_tree_files_add(files, entry->path, entry->mode, entry->oid);
    }
    return files;
}

/* ---- ids ---------------------------------------------------------------------------------------
 */

static void hash_object(const char *type, const void *bytes, size_t length, size_t digits,
                        char out[ORCH_OBJECT_ID_CHARS])
{
    GChecksum *sum = g_checksum_new(digits == 64 ? G_CHECKSUM_SHA256 : G_CHECKSUM_SHA1);
    char head[48];
    int head_length = snprintf(head, sizeof head, "%s %zu", type, length);
    g_checksum_update(sum, (const guchar *)head, head_length + 1);
    for (size_t at = 0; at < length;) { /* g_checksum_update takes a signed length */
        size_t part = MIN(length - at, (size_t)1 << 30);
        g_checksum_update(sum, (const guchar *)bytes + at, (gssize)part);
        at += part;
    }
    g_strlcpy(out, g_checksum_get_string(sum), ORCH_OBJECT_ID_CHARS);
    g_checksum_free(sum);
}

void orch_blob_id(const void *bytes, size_t length, size_t digits, char out[ORCH_OBJECT_ID_CHARS])
{
    hash_object("blob", bytes, length, digits, out);
}

/* A member of a folder. */
struct member {
    char *name;
    unsigned mode;
    char oid[ORCH_OBJECT_ID_CHARS];
};

static void free_member(gpointer pointer)
{
    struct member *member = pointer;
    g_free(member->name);
    g_free(member);
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = *(const struct member *const *)a;
    const struct member *y = *(const struct member *const *)b;
    g_autofree char *x_name = g_strconcat(x->name, x->mode == 040000 ? "/" : "", NULL);
    g_autofree char *y_name = g_strconcat(y->name, y->mode == 040000 ? "/" : "", NULL);
    return strcmp(x_name, y_name);
}

static void append_id(GString *out, const char *hex)
{
    for (size_t i = 0; hex[i] && hex[i + 1] && i < 2 * RAW_ID_MAX; i += 2)
        g_string_append_c(
            out, (char)(g_ascii_xdigit_value(hex[i]) * 16 + g_ascii_xdigit_value(hex[i + 1])));
}

static void hash_members(GPtrArray *members, size_t digits, char out[ORCH_OBJECT_ID_CHARS])
{
    g_autoptr(GString) bytes = g_string_new(NULL);
    g_ptr_array_sort(members, compare_members);
    for (guint i = 0; i < members->len; i++) {
        const struct member *member = members->pdata[i];
        g_string_append_printf(bytes, "%o %s", member->mode, member->name);
        g_string_append_c(bytes, 0);
        append_id(bytes, member->oid);
    }
    hash_object("tree", bytes->str, bytes->len, digits, out);
}

/* Hashes the folder of entries [from, to), sorted by path, whose paths share `skip` characters. */
static void hash_folder(const GPtrArray *entries, guint from, guint to, size_t skip, size_t digits,
                        char out[ORCH_OBJECT_ID_CHARS])
{
    g_autoptr(GPtrArray) members = g_ptr_array_new_with_free_func(free_member);
    for (guint i = from; i < to;) {
        const struct orch_entry *entry = entries->pdata[i];
        const char *name = entry->path + skip, *slash = strchr(name, '/');
        struct member *member = g_new0(struct member, 1);
        guint end = i + 1;
        if (slash) {
            size_t length = (size_t)(slash - name) + 1;
            while (end < to && strncmp(((struct orch_entry *)entries->pdata[end])->path + skip,
                                       name, length) == 0)
                end++;
            member->name = g_strndup(name, length - 1);
            member->mode = 040000;
            hash_folder(entries, i, end, skip + length, digits, member->oid);
        } else {
            member->name = g_strdup(name);
            member->mode = entry->mode;
            g_strlcpy(member->oid, entry->oid, sizeof member->oid);
        }
        g_ptr_array_add(members, member);
        i = end;
    }
    hash_members(members, digits, out);
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp((*(const struct orch_entry *const *)a)->path,
                  (*(const struct orch_entry *const *)b)->path);
}

static GPtrArray *entries_of(const GPtrArray *files)
{
    GPtrArray *entries = g_ptr_array_new_with_free_func((GDestroyNotify)orch_entry_free);
    for (guint i = 0; files && i < files->len; i++) {
        const struct orch_tree_file *file = files->pdata[i];
        g_ptr_array_add(entries, orch_entry_new(file->path, file->mode, file->oid));
    }
    return entries;
}

static char *tree_id(const GPtrArray *entries)
{
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (guint i = 0; i < entries->len; i++)
        g_ptr_array_add(sorted, entries->pdata[i]);
    g_ptr_array_sort(sorted, compare_entries);
    size_t digits = sorted->len ? strlen(((struct orch_entry *)sorted->pdata[0])->oid) : 40;
    char id[ORCH_OBJECT_ID_CHARS];
    hash_folder(sorted, 0, sorted->len, 0, digits, id);
    return g_strdup(id);
}

char *orch_tree_files_id(const GPtrArray *files)
{
    g_autoptr(GPtrArray) entries = entries_of(files);
    return tree_id(entries);
}

/* ---- as a repository ---------------------------------------------------------------------------
 */

static GPtrArray *list_entries(struct orch_vcs *vcs, const char *tree, GError **error)
{
    (void)error;
    return entries_of(g_hash_table_lookup(vcs->listed, tree));
}

static bool lists_tree(struct orch_vcs *vcs, const char *tree)
{
    return g_hash_table_contains(vcs->listed, tree);
}

static char *build_id(struct orch_vcs *vcs, const GPtrArray *entries, GError **error)
{
    (void)vcs;
    (void)error;
    return tree_id(entries);
}

static bool no_objects(GError **error)
{
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                   "of this source tree only the list of files is known, not their contents");
    return false;
}

static bool scan_none(struct orch_capture *job, GError **error)
{
    (void)job;
    return no_objects(error);
}

static char *write_none(struct orch_capture *job, GError **error)
{
    (void)job;
    no_objects(error);
    return NULL;
}

static bool resolve_none(struct orch_vcs *vcs, const char *rev, char **out_commit, char **out_tree)
{
    (void)vcs;
    (void)rev;
    (void)out_commit;
    (void)out_tree;
    return false;
}

static bool path_none(struct orch_vcs *vcs, const char *from, const char *to, GPtrArray *path,
                      GError **error)
{
    (void)vcs;
    (void)from;
    (void)to;
    (void)path;
    return no_objects(error);
}

static bool common_none(struct orch_vcs *vcs, const char *a, const char *b, char **out,
                        GError **error)
{
    (void)vcs;
    (void)a;
    (void)b;
    (void)out;
    return no_objects(error);
}

static bool keep_none(struct orch_vcs *vcs, const char *tree, GError **error)
{
    (void)vcs;
    (void)tree;
    return no_objects(error);
}

static char *setting_none(struct orch_vcs *vcs, const char *key)
{
    (void)vcs;
    (void)key;
    return NULL;
}

static bool checkout_none(struct orch_vcs *vcs, const char *tree, const GPtrArray *entries,
                          const char *dest, GError **error)
{
    (void)vcs;
    (void)tree;
    (void)entries;
    (void)dest;
    return no_objects(error);
}

static GPtrArray *paths_none(struct orch_vcs *vcs, GError **error)
{
    (void)vcs;
    (void)error;
    return g_ptr_array_new_with_free_func(g_free);
}

static char *diff_none(struct orch_vcs *vcs, const char *tree_a, const char *tree_b,
                       size_t max_bytes, GError **error)
{
    (void)vcs;
    (void)tree_a;
    (void)tree_b;
    (void)max_bytes;
    no_objects(error);
    return NULL;
}

static bool drop_none(struct orch_vcs *vcs, const GPtrArray *trees, GError **error)
{
    (void)vcs;
    (void)trees;
    return no_objects(error);
}

static const struct orch_backend LISTED = {
    .scan = scan_none,
    .write = write_none,
    .resolve = resolve_none,
    .path = path_none,
    .common = common_none,
    .keep = keep_none,
    .setting = setting_none,
    .entries = list_entries,
    .build = build_id,
    .checkout = checkout_none,
    .ignored = paths_none,
    .has_tree = lists_tree,
    .diff_text = diff_none,
    .kept = paths_none,
    .drop = drop_none,
};

struct orch_vcs *orch_vcs_listed(const char *root, GHashTable *trees)
{
    struct orch_vcs *vcs = g_new0(struct orch_vcs, 1);
    vcs->root = g_strdup(root);
    vcs->git_dir = g_strdup(root);
    vcs->name = g_strdup("a list of files");
    vcs->backend = &LISTED;
    vcs->listed = trees;
    return vcs;
}
