/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/checkpoint.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/weights/weights.h"
#include "plugins/common/training/average.h"
#include "plugins/common/training/notes.h"

char *orch_checkpoint_path(const struct orch_session *s)
{
    const char *folder = s->host->checkpoint_dir(s->host);
    return folder && !s->host->smoke(s->host)
               ? g_build_filename(folder, "training.safetensors", NULL)
               : NULL;
}

/* ---- clocks -----------------------------------------------------------------------------------
 */

static void put_clock(struct orch_weights *checkpoint, const char *name, double seconds)
{
    char text[ORCH_REAL_CHARS];
    g_hash_table_insert(checkpoint->metadata, g_strdup(name),
                        g_strdup(orch_real_format(seconds, text)));
}

static bool get_clock(const struct orch_weights *checkpoint, const char *name, double *out_seconds)
{
    const char *text = g_hash_table_lookup(checkpoint->metadata, name);
    return text && orch_real_parse(text, out_seconds);
}

static bool get_clocks(const struct orch_weights *checkpoint, struct orch_training_clocks *out,
                       GError **error)
{
    if (!get_clock(checkpoint, "training_s", &out->training_s) ||
        !get_clock(checkpoint, "validation_s", &out->validation_s)) {
        orch_error_set(error, ORCH_ERROR_CHECK, "remove the checkpoint to start again",
                       "the checkpoint does not fit this training: it records no training time");
        return false;
    }
    if (!get_clock(checkpoint, "target_epoch", &out->target_epoch) ||
        !get_clock(checkpoint, "target_training_s", &out->target_training_s) ||
        !get_clock(checkpoint, "target_validation_s", &out->target_validation_s))
        out->target_epoch = 0;
    return true;
}

static void put_clocks(struct orch_weights *checkpoint, const struct orch_training_clocks *clocks)
{
    if (clocks->target_epoch) {
        put_clock(checkpoint, "target_epoch", clocks->target_epoch);
        put_clock(checkpoint, "target_training_s", clocks->target_training_s);
        put_clock(checkpoint, "target_validation_s", clocks->target_validation_s);
    }
    put_clock(checkpoint, "training_s", clocks->training_s);
    put_clock(checkpoint, "validation_s", clocks->validation_s);
}

/* ---- the file ---------------------------------------------------------------------------------
 */

static bool restore(const struct orch_session *s, const struct orch_training_parts *parts,
                    const char *path, struct orch_torch_progress *out,
                    struct orch_training_clocks *out_clocks, GError **error)
{
    struct orch_weights *checkpoint = orch_torch_checkpoint_open(path, error);
    bool ok = checkpoint &&
              orch_torch_checkpoint_restore(s->torch, s->model, checkpoint, out, error) &&
              orch_average_restore(s, checkpoint, error) &&
              (!parts->restore || parts->restore(parts->ctx, checkpoint, error)) &&
              get_clocks(checkpoint, out_clocks, error);
    orch_weights_free(checkpoint);
    return ok;
}

bool orch_checkpoint_resume(const struct orch_session *s, const struct orch_training_parts *parts,
                            const char *path, struct orch_torch_progress *out,
                            struct orch_training_clocks *out_clocks, GError **error)
{
    GError *problem = NULL;
    *out = (struct orch_torch_progress){0};
    *out_clocks = (struct orch_training_clocks){0};
    if (!path)
        return true;
    if (restore(s, parts, path, out, out_clocks, &problem)) {
        if (out->epoch)
            orch_training_note(
                s->host, "an earlier attempt had finished %d epochs; this one continued from there",
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
                           const struct orch_training_clocks *clocks, GError **error)
{
    struct orch_weights *checkpoint =
        orch_torch_checkpoint_copy(s->torch, s->model, progress, error);
    if (checkpoint)
        put_clocks(checkpoint, clocks);
    bool ok = checkpoint && orch_average_save(s, checkpoint, error) &&
              (!parts->save || parts->save(parts->ctx, checkpoint, error)) &&
              orch_weights_save(checkpoint, path, true, error);
    orch_weights_free(checkpoint);
    return ok;
}
