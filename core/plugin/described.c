/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/plugin/described.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"

#include <string.h>

char *orch_described_name(const char *name)
{
    char *bare = g_path_get_basename(name);
    char *dot = strrchr(bare, '.');
    if (dot && (strcmp(dot, ".so") == 0 || strcmp(dot, ".plugin") == 0))
        *dot = 0;
    return bare;
}

bool orch_described_is_below(const char *folder, const char *path)
{
    return orch_path_below(path, folder);
}

bool orch_described_is(const struct orch_manifest *manifest, const json_t *description)
{
    g_autoptr(json_t) mine = orch_manifest_encode(manifest);
    g_autoptr(json_t) theirs = json_copy((json_t *)(uintptr_t)description);
    json_object_del(mine, "path");
    json_object_del(theirs, "path");
    return json_equal(mine, theirs);
}

struct orch_manifest *orch_described_manifest(const char *name, const json_t *description,
                                              GError **error)
{
    struct orch_manifest *manifest = orch_manifest_decode(description, error);
    if (!manifest)
        return NULL;
    g_autofree char *problem = orch_manifest_problem(manifest);
    if (problem || g_strcmp0(manifest->name, name) != 0) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, NULL,
                       "the description of plugin '%s' is not valid: %s", name,
                       problem ? problem : "its name differs");
        orch_manifest_free(manifest);
        return NULL;
    }
    manifest->has_check = manifest->has_cost = false;
    g_clear_pointer(&manifest->path, g_free);
    return manifest;
}
