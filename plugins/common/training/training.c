/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hooks of a training plugin: a session, features if they are computed once, the epochs. */
#include "plugins/common/training/training.h"

#include "plugins/common/training/data_path.h"
#include "plugins/common/training/describe.h"
#include "plugins/common/training/epochs.h"
#include "plugins/common/training/notes.h"

int orch_training_open(const struct orch_training *t, const struct orch_host *host,
                       void **out_state)
{
    struct orch_session *session = NULL;
    int status = orch_session_open(t, host, &session);
    *out_state = session;
    return status;
}

int orch_training_run_with(void *state, const struct orch_host *host,
                           const struct orch_training_parts *parts)
{
    struct orch_session *s = state;
    struct orch_features *features = NULL;
    GError *error = NULL;
    s->host = host;
    bool is_cached = s->training->feature_extractor && s->training->cache_features;
    bool ok = orch_data_path_choose(s, parts, &error) && orch_training_describe(s, &error);
    if (ok && is_cached) {
        features = orch_features_compute(s, &error);
        ok = features != NULL;
    }
    int status = ok ? orch_epochs_run(s, features, parts, &error) : -1;
    orch_features_free(features);
    return status < 0 ? orch_training_fail(host, error) : status;
}

int orch_training_run(void *state, const struct orch_host *host)
{
    static const struct orch_training_parts usual;
    return orch_training_run_with(state, host, &usual);
}

void orch_training_close(void *state)
{
    orch_session_close(state);
}
