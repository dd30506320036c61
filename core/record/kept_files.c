/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/kept_files.h"

#include "lib/base/file.h"
#include "lib/base/files_below.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 1000 };
#define PREFIX "kept:"
#define MEMBER "kept_files" /* of a record: [[artifact, digest, bytes] or [path, why not], ...] */

char *orch_kept_file_path(const char *artifact)
{
    g_autofree char *path = g_str_has_prefix(artifact, PREFIX)
                                ? g_uri_unescape_string(artifact + strlen(PREFIX), NULL)
                                : NULL;
    return path && orch_below_path_is_valid(path) ? g_steal_pointer(&path) : NULL;
}

/* The name of the artifact; NULL: the path has none. The caller frees. */
static char *name_of(const char *path)
{
    g_autofree char *escaped = path ? g_uri_escape_string(path, "/", TRUE) : NULL;
    g_autofree char *name = escaped ? g_strconcat(PREFIX, escaped, NULL) : NULL;
    return orch_label_is_valid(name) ? g_steal_pointer(&name) : NULL;
}

static bool take_file(struct orch_store *store, const char *root, const char *file, json_t *kept,
                      GError **error)
{
    struct stat info;
    char sha256[ORCH_SHA256_CHARS];
    int64_t bytes;
    g_autofree char *name = name_of(orch_path_below(file, root));
    const char *why = NULL;
    if (stat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return true;
    if (!name)
        why = "it lies outside of the source, or its path is too long";
    else if (info.st_size > ORCH_KEPT_BYTES_MAX)
        why = "it is larger than 64 MiB";
    else if (json_array_size(kept) >= FILES_MAX)
        why = "a run keeps at most 1000 files";
    if (!why && !orch_store_put_object(store, file, sha256, &bytes, error))
        return false;
    json_array_append_new(kept, why ? json_pack("[ss]", file, why)
                                    : json_pack("[ssI]", name, sha256, (json_int_t)bytes));
    return true;
}

bool orch_kept_files_take(struct orch_plan *plan, const struct orch_experiment *experiment,
                          json_t *record, GError **error)
{
    const char *root = plan->workspace->root ? plan->workspace->root : plan->expansion->folder;
    bool ok = true;
    g_autoptr(json_t) kept = json_array();
    for (char **pattern = experiment->keep; ok && pattern && *pattern; pattern++) {
        glob_t found;
        g_autofree char *absolute = orch_path_absolute(*pattern, plan->expansion->folder);
        if (glob(absolute, 0, NULL, &found) != 0) {
            json_array_append_new(kept, json_pack("[ss]", *pattern, "there is no such file"));
            continue;
        }
        for (size_t i = 0; ok && i < found.gl_pathc; i++)
            ok = take_file(plan->store, root, found.gl_pathv[i], kept, error);
        globfree(&found);
    }
    if (ok && json_array_size(kept))
        json_object_set(record, MEMBER, kept);
    return ok;
}

void orch_kept_files_gather(struct gathering *all)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(all->record, MEMBER), i, row)
    {
        const char *name = json_string_value(json_array_get(row, 0));
        const char *text = json_string_value(json_array_get(row, 1));
        if (json_array_size(row) == 3 && name && orch_sha256_is_valid(text))
            orch_gathering_add_artifact(all, name, text,
                                        json_integer_value(json_array_get(row, 2)));
        else
            g_string_append_printf(all->log, "warning: '%s' is not kept: %s\n", name ? name : "",
                                   text ? text : "");
    }
}
