/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/environment/lock.h"

#include "core/workspace/environment.h"
#include "core/workspace/package_lists.h"
#include "features/environment/lock_hashes.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"

#include <string.h>

struct writing {
    const struct orch_run *run;
    const char *folder;
    struct orch_lock *out;
    GPtrArray *lists[ORCH_PACKAGE_LISTS];
};

void orch_lock_clear(struct orch_lock *lock)
{
    g_free(lock->python);
    g_clear_pointer(&lock->files, g_ptr_array_unref);
    g_clear_pointer(&lock->unhashed, g_ptr_array_unref);
    g_free(lock->why);
    *lock = (struct orch_lock){0};
}

/* ---- what a list says -------------------------------------------------------------------------
 */

/* The packages of conda ("NAME-VERSION-BUILD") as "NAME VERSION". The caller unrefs. */
static GHashTable *names_of_conda(const GPtrArray *conda)
{
    GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; conda && i < conda->len; i++) {
        g_autofree char *name = g_strdup(conda->pdata[i]);
        name[strcspn(name, "\t")] = '\0';
        char *build = strrchr(name, '-');
        if (build)
            *build = '\0';
        char *version = strrchr(name, '-');
        if (!version)
            continue;
        *version = '\0';
        g_strdelimit(name, "_.", '-');
        g_hash_table_add(names, g_strdup_printf("%s %s", name, version + 1));
    }
    return names;
}

/* Sorts the Python packages: `pinned` may be on an index, `other` is not. Those of dpkg and conda
 * are in neither. */
static void sort_packages(const struct writing *w, GPtrArray *pinned, GPtrArray *other)
{
    const GPtrArray *lines = w->lists[ORCH_PACKAGES_PYTHON];
    g_autoptr(GHashTable) conda = names_of_conda(w->lists[ORCH_PACKAGES_CONDA]);
    for (guint i = 0; i < lines->len; i++) {
        g_auto(GStrv) words = g_strsplit(lines->pdata[i], " ", 2);
        if (words[1] && !strchr(words[1], '\t') && !g_hash_table_contains(conda, lines->pdata[i]))
            g_ptr_array_add(strchr(words[1], '+') ? other : pinned,
                            g_strdup_printf("%s==%s", words[0], words[1]));
    }
}

/* ---- files ------------------------------------------------------------------------------------
 */

static bool write_file(const struct writing *w, const char *name, const char *how, const char *text,
                       GError **error)
{
    char *path = g_build_filename(w->folder, name, NULL);
    g_autofree char *whole = g_strdup_printf("# run %s; %s\n%s", w->run->key, how, text);
    g_ptr_array_add(w->out->files, path);
    return orch_file_write(path, whole, strlen(whole), false, error);
}

static char *joined(const GPtrArray *lines)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < lines->len; i++)
        g_string_append_printf(text, "%s\n", (char *)lines->pdata[i]);
    return g_string_free(text, FALSE);
}

static bool write_python(const struct writing *w, GError **error)
{
    g_autoptr(GPtrArray) pinned = g_ptr_array_new_with_free_func(g_free);
    if (!w->lists[ORCH_PACKAGES_PYTHON])
        return true;
    sort_packages(w, pinned, w->out->unhashed);
    const char *python = w->out->python ? w->out->python : "unknown";
    g_autofree char *hashed =
        pinned->len ? orch_lock_hashes(pinned, w->out->unhashed, python, &w->out->why) : NULL;
    g_autofree char *text = hashed ? g_strdup(hashed) : joined(pinned);
    g_autofree char *how = g_strdup_printf(
        "Python %s: python3 -m venv DIR; DIR/bin/pip install --no-deps%s -r requirements.txt",
        python, hashed ? " --require-hashes" : "");
    bool ok = !pinned->len || write_file(w, "requirements.txt", how, text, error);
    g_autofree char *other = joined(w->out->unhashed);
    ok = ok &&
         (!w->out->unhashed->len ||
          write_file(w, "requirements-other.txt",
                     "found on no package index: install them from where they came", other, error));
    if (!hashed)
        for (guint i = 0; i < pinned->len; i++)
            g_ptr_array_add(w->out->unhashed, g_strdup(pinned->pdata[i]));
    return ok;
}

static bool write_conda(const struct writing *w, GError **error)
{
    const GPtrArray *lines = w->lists[ORCH_PACKAGES_CONDA];
    if (!lines)
        return true;
    g_autoptr(GString) text = g_string_new("@EXPLICIT\n");
    for (guint i = 0; i < lines->len; i++) {
        const char *url = strchr(lines->pdata[i], '\t');
        g_string_append_printf(text, "%s%s\n", url ? "" : "# from no channel: ",
                               url ? url + 1 : (char *)lines->pdata[i]);
    }
    return write_file(w, "conda.txt", "conda create -p DIR --file conda.txt", text->str, error);
}

static bool write_apt(const struct writing *w, GError **error)
{
    if (!w->lists[ORCH_PACKAGES_APT])
        return true;
    g_autofree char *text = joined(w->lists[ORCH_PACKAGES_APT]);
    return write_file(w, "apt.txt", "apt-get install $(grep -v '^#' apt.txt)",
                      g_strdelimit(text, " ", '='), error);
}

static bool is_free(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    return dir ? !g_dir_read_name(dir) : !g_file_test(folder, G_FILE_TEST_EXISTS);
}

static bool write_all(const struct writing *w, GError **error)
{
    if (!is_free(w->folder)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "name a folder that is empty or does not exist",
                       "'%s' already exists", w->folder);
        return false;
    }
    return orch_dir_make(w->folder, error) && write_python(w, error) && write_conda(w, error) &&
           write_apt(w, error);
}

bool orch_lock_write(const struct orch_store *store, const struct orch_run *run, const char *folder,
                     struct orch_lock *out, GError **error)
{
    g_autoptr(json_t) environment = orch_environment_recorded(run->facts);
    struct writing w = {.run = run, .folder = folder, .out = out};
    *out = (struct orch_lock){.python = g_strdup(orch_json_text(environment, "python", NULL)),
                              .files = g_ptr_array_new_with_free_func(g_free),
                              .unhashed = g_ptr_array_new_with_free_func(g_free)};
    bool any = false;
    for (unsigned i = 0; i < ORCH_PACKAGE_LISTS; i++) {
        w.lists[i] = orch_packages_read(orch_store_folder(store), i, environment);
        any = any || w.lists[i];
    }
    if (!any)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "ask the run's author to run this command and to send you the folder",
                       "the list of packages of run %s (by %s) is not on this machine",
                       orch_run_short_key(run->key), run->who);
    bool ok = any && write_all(&w, error);
    for (unsigned i = 0; i < ORCH_PACKAGE_LISTS; i++)
        if (w.lists[i])
            g_ptr_array_unref(w.lists[i]);
    if (!ok)
        orch_lock_clear(out);
    return ok;
}
