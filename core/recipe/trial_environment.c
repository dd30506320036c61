/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/trial_environment.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 16 << 20, FOLDER_DIGITS = 20 };

const char *const ORCH_ENVIRONMENT_NAMES[ORCH_ENVIRONMENT_KINDS] = {"uv", "pip", "conda",
                                                                    "container"};
const struct orch_yaml_key ORCH_ENVIRONMENT_KEYS[] = {{"uv", .type = "text"},
                                                      {"pip", .type = "text"},
                                                      {"conda", .type = "text"},
                                                      {"container", .type = "text"},
                                                      {0}};

void orch_trial_environment_free(struct orch_trial_environment *environment)
{
    if (!environment)
        return;
    g_free(environment->text);
    g_free(environment->path);
    g_free(environment->folder);
    g_strfreev(environment->launcher);
    g_free(environment);
}

static bool read_file(struct recipe_draft *draft, const struct orch_yaml *node, const char *folder,
                      struct orch_trial_environment *out)
{
    const char *kind = ORCH_ENVIRONMENT_NAMES[out->kind];
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    size_t length = 0;
    out->path = orch_path_absolute(out->text, folder);
    if (!orch_file_read(out->path, FILE_BYTES_MAX, &text, &length, &error)) {
        g_autofree char *what = orch_error_what(error);
        orch_recipe_error_at(draft, node, "name a file, relative to the recipe", "'%s': %s", kind,
                             what);
        return false;
    }
    g_autoptr(GString) whole = g_string_new(kind);
    g_string_append_c(whole, '\n');
    g_string_append_len(whole, text, (gssize)length);
    orch_sha256(whole->str, whole->len, out->digest);
    g_autofree char *name = g_strdup_printf("%s-%.*s", kind, FOLDER_DIGITS, out->digest);
    out->folder = g_build_filename(g_get_user_cache_dir(), "orch", "environments", name, NULL);
    return true;
}

static bool read_image(struct recipe_draft *draft, const struct orch_yaml *node,
                       struct orch_trial_environment *out)
{
    static const char mark[] = "@sha256:";
    const char *at = strstr(out->text, mark);
    bool is_well = at && at > out->text && out->text[0] != '-' && !strpbrk(out->text, " \t") &&
                   orch_sha256_is_valid(at + strlen(mark));
    if (is_well)
        g_strlcpy(out->digest, at + strlen(mark), sizeof out->digest);
    else
        orch_recipe_error_at(draft, node,
                             "write IMAGE@sha256:DIGEST, which 'podman images --digests' shows",
                             "'container': '%s' has no digest, so the image may change", out->text);
    return is_well;
}

struct orch_trial_environment *orch_recipe_read_environment(struct recipe_draft *draft,
                                                            const struct orch_yaml *map,
                                                            const char *folder)
{
    const struct orch_yaml *value = orch_recipe_get_map(draft, map, "environment");
    const struct orch_yaml *node = NULL;
    struct orch_trial_environment *out = g_new0(struct orch_trial_environment, 1);
    bool is_well = value != NULL;
    if (value)
        orch_recipe_check_keys(draft, value, "'environment'", ORCH_ENVIRONMENT_KEYS);
    if (value && value->keys->len != 1) {
        orch_recipe_error_at(draft, value, "for example environment: { uv: uv.lock }",
                             "'environment' takes one of uv, pip, conda and container");
        is_well = false;
    }
    for (unsigned i = 0; is_well && !node && i < ORCH_ENVIRONMENT_KINDS; i++) {
        out->kind = i;
        node = orch_yaml_get(value, ORCH_ENVIRONMENT_NAMES[i]);
    }
    is_well = is_well && node &&
              orch_recipe_get_text(draft, value, ORCH_ENVIRONMENT_NAMES[out->kind], &out->text) &&
              (out->kind == ORCH_ENVIRONMENT_CONTAINER ? read_image(draft, node, out)
                                                       : read_file(draft, node, folder, out));
    if (!is_well)
        g_clear_pointer(&out, orch_trial_environment_free);
    return out;
}

char *orch_trial_environment_mark(const struct orch_trial_environment *environment)
{
    return g_build_filename(environment->folder, ".orch-complete", NULL);
}

char *orch_trial_environment_python(const struct orch_trial_environment *environment)
{
    if (!environment->folder)
        return NULL;
    g_autofree char *mark = orch_trial_environment_mark(environment);
    g_autofree char *python = g_build_filename(environment->folder, "bin", "python", NULL);
    return access(mark, F_OK) == 0 && access(python, X_OK) == 0 ? g_steal_pointer(&python) : NULL;
}
