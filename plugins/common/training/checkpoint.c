/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/checkpoint.h"

#include "lib/base/error.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/weights/weights.h"

char *orch_checkpoint_path(const struct orch_session *s)
{
    const char *folder = s->host->checkpoint_dir(s->host);
    return folder && !s->host->smoke(s->host)
               ? g_build_filename(folder, "training.safetensors", NULL)
               : NULL;
}

static bool restore(const struct orch_session *s, const struct orch_training_parts *parts,
                    const char *path, struct orch_torch_progress *out, GError **error)
{
    struct orch_weights *checkpoint = orch_torch_checkpoint_open(path, error);
    bool ok = checkpoint &&
              orch_torch_checkpoint_restore(s->torch, s->model, checkpoint, out, error) &&
              (!parts->restore || parts->restore(parts->ctx, checkpoint, error));
    orch_weights_free(checkpoint);
    return ok;
}

bool orch_checkpoint_resume(const struct orch_session *s, const struct orch_training_parts *parts,
                            const char *path, struct orch_torch_progress *out, GError **error)
{
    GError *problem = NULL;
    *out = (struct orch_torch_progress){0};
    if (!path)
        return true;
    if (restore(s, parts, path, out, &problem)) {
        if (out->epoch)
            orch_training_note(
                s->host, "an earlier attempt had finished %d epochs; this one went on from there",
                (int)out->epoch);
        return true;
    }
    if (g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND)) {
        g_clear_error(&problem);
        return true;
    }
    g_propagate_prefixed_error(error, problem, "cannot resume: ");
    return false;
}

bool orch_checkpoint_write(const struct orch_session *s, const struct orch_training_parts *parts,
                           const char *path, const struct orch_torch_progress *progress,
                           GError **error)
{
    struct orch_weights *checkpoint =
        orch_torch_checkpoint_copy(s->torch, s->model, progress, error);
    bool ok = checkpoint && (!parts->save || parts->save(parts->ctx, checkpoint, error)) &&
              orch_weights_save(checkpoint, path, true, error);
    orch_weights_free(checkpoint);
    return ok;
}
