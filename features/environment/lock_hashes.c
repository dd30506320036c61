/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uv or pip asks the index, so that its address, proxies and passwords are those that the user has
 * set for them. pip gives only the digests of the files that it would install with its own Python,
 * so it is asked only if that is of the same version. */
#include "features/environment/lock_hashes.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/subprocess.h"
#include "lib/base/temporary.h"

#include <string.h>

enum { ATTEMPTS_MAX = 20, ARGV_MAX = 20, REPORT_BYTES_MAX = 64 << 20 };
static const double TIMEOUT_S = 600;

/* A question: the pinned packages in a file, and where the answer goes. */
struct question {
    char *in, *out, *series; /* "3.11" */
};

typedef char *(*read_fn)(const char *text, size_t length);

/* uv writes the requirements file itself. */
static char *read_requirements(const char *text, size_t length)
{
    return g_strndup(text, length);
}

/* pip writes a report in JSON of what it would install. */
static char *read_report(const char *text, size_t length)
{
    g_autoptr(json_t) report = orch_json_parse(text, length, REPORT_BYTES_MAX, NULL);
    const json_t *installs = json_object_get(report, "install");
    GString *out = g_string_new(NULL);
    for (size_t i = 0; i < json_array_size(installs); i++) {
        const json_t *install = json_array_get(installs, i);
        const json_t *meta = json_object_get(install, "metadata");
        const json_t *archive =
            json_object_get(json_object_get(install, "download_info"), "archive_info");
        const char *hash = orch_json_text(archive, "hash", "");
        g_string_append_printf(out, "%s==%s --hash=sha256:%s\n", orch_json_text(meta, "name", ""),
                               orch_json_text(meta, "version", ""),
                               g_str_has_prefix(hash, "sha256=") ? hash + strlen("sha256=") : "");
    }
    return g_string_free(out, FALSE);
}

/* Programs that know an index, in the order in which they are tried. The words %i, %o and %v stand
 * for the question's files and the version of Python. */
static const struct asker {
    const char *program;
    bool is_of_one_python;
    read_fn read;
    const char *argv[ARGV_MAX];
} ASKERS[] = {
    {"uv",
     false,
     read_requirements,
     {"uv", "pip", "compile", "--quiet", "--no-config", "--no-deps", "--no-header", "--no-annotate",
      "--generate-hashes", "--python-version", "%v", "-o", "%o", "%i", NULL}},
    {"python3",
     true,
     read_report,
     {"python3", "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps",
      "--disable-pip-version-check", "--no-input", "--report", "%o", "-r", "%i", NULL}},
};

static const char *word_of(const struct question *question, const char *word)
{
    const char *const values[] = {question->in, question->out, question->series};
    const char *letter = word[0] == '%' ? strchr("iov", word[1]) : NULL;
    return letter && *letter ? values[letter - "iov"] : word;
}

static char *run(const struct asker *asker, const struct question *question, char **out_why)
{
    const char *argv[ARGV_MAX] = {0};
    for (unsigned i = 0; asker->argv[i]; i++)
        argv[i] = word_of(question, asker->argv[i]);
    const struct orch_subprocess command = {
        .argv = argv, .name = asker->program, .timeout_s = TIMEOUT_S};
    struct orch_subprocess_end end;
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!orch_subprocess_run(&command, &end, &error)) {
        *out_why = g_strdup(error->message);
        return NULL;
    }
    char *found =
        end.status == 0 && orch_file_read(question->out, REPORT_BYTES_MAX, &text, &length, NULL)
            ? asker->read(text, length)
            : NULL;
    if (!found)
        *out_why = g_strdup(end.err);
    orch_subprocess_end_clear(&end);
    return found;
}

static bool is_of_series(const char *program, const char *series)
{
    static const char code[] = "import sys; print('%d.%d' % sys.version_info[:2])";
    const char *const argv[] = {program, "-c", code, NULL};
    struct orch_subprocess_end end;
    if (!orch_subprocess_run(&(struct orch_subprocess){.argv = argv, .timeout_s = 60}, &end, NULL))
        return false;
    bool is_same = strcmp(g_strchomp(end.out->str), series) == 0;
    orch_subprocess_end_clear(&end);
    return is_same;
}

static bool may_ask(const struct asker *asker, const char *series)
{
    g_autofree char *path = g_find_program_in_path(asker->program);
    return path && (!asker->is_of_one_python || is_of_series(path, series));
}

/* Moves the packages that a complaint names: the index does not have them. */
static bool move_named(GPtrArray *pinned, GPtrArray *other, const char *complaint)
{
    bool any = false;
    for (guint i = pinned->len; i-- > 0;) {
        const char *name = pinned->pdata[i];
        const char *at = strstr(complaint, name);
        if (!at || strchr(".0123456789", at[strlen(name)] ? at[strlen(name)] : 'x'))
            continue;
        g_ptr_array_add(other, g_ptr_array_steal_index(pinned, i));
        any = true;
    }
    return any;
}

static char *ask(const struct asker *asker, const struct question *question, GPtrArray *pinned,
                 GPtrArray *other, char **out_why)
{
    char *found = NULL;
    for (int i = 0; !found && pinned->len && i < ATTEMPTS_MAX; i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        for (guint j = 0; j < pinned->len; j++)
            g_string_append_printf(text, "%s\n", (char *)pinned->pdata[j]);
        g_free(g_steal_pointer(out_why));
        if (!orch_file_write(question->in, text->str, text->len, false, NULL))
            return NULL;
        found = run(asker, question, out_why);
        if (!found && !move_named(pinned, other, *out_why))
            break;
    }
    return pinned->len ? found : g_strdup("");
}

char *orch_lock_hashes(GPtrArray *pinned, GPtrArray *other, const char *python, char **out_why)
{
    g_auto(GStrv) parts = g_strsplit(python, ".", 3);
    g_autofree char *folder = orch_temporary_folder("lock", NULL);
    if (!folder || g_strv_length(parts) < 2)
        return NULL;
    parts[1][strspn(parts[1], "0123456789")] = '\0';
    g_autofree char *series = g_strdup_printf("%s.%s", parts[0], parts[1]);
    g_autofree char *in = g_build_filename(folder, "in.txt", NULL);
    g_autofree char *out = g_build_filename(folder, "out.txt", NULL);
    const struct question question = {in, out, series};
    char *found = NULL, *why = NULL;
    for (unsigned i = 0; !found && i < G_N_ELEMENTS(ASKERS); i++)
        if (may_ask(&ASKERS[i], series))
            found = ask(&ASKERS[i], &question, pinned, other, &why);
    orch_tree_remove(folder, NULL);
    if (!found)
        *out_why = why ? orch_subprocess_complaint(why, 2)
                       : g_strdup_printf("there is neither uv nor a pip of Python %s", series);
    g_free(why);
    return found;
}
