/* SPDX-License-Identifier: MIT */
#include "core/host/read_trial.h"

#include "lib/base/file.h"
#include "lib/base/json.h"

enum { TRIAL_BYTES_MAX = 16 << 20 };

struct orch_trial_spec *orch_read_trial(const char *trial_dir, GError **error)
{
    g_autofree char *path = g_build_filename(trial_dir, "trial.json", NULL);
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!orch_file_read(path, TRIAL_BYTES_MAX, &text, &length, error))
        return NULL;
    g_autoptr(json_t) json = orch_json_parse(text, length, TRIAL_BYTES_MAX, error);
    if (!json)
        g_prefix_error(error, "cannot read '%s': ", path);
    struct orch_trial_spec *trial = json ? orch_trial_decode(json, error) : NULL;
    if (trial && trial->cwd) {
        char *cwd = orch_path_absolute(trial->cwd, trial_dir);
        g_free(trial->cwd);
        trial->cwd = cwd;
    }
    return trial;
}
