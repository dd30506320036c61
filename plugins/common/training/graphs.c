/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/graphs.h"

#include "lib/base/error.h"
#include "plugins/common/training/notes.h"

#include <string.h>

static const char HINT[] = "write graphs: auto";

static bool is_on(const struct orch_training *t)
{
    return g_strcmp0(t->graphs, "on") == 0;
}

bool orch_graphs_check(const struct orch_training *t, GError **error)
{
    if (!is_on(t) || strcmp(t->device, "cpu") != 0)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, HINT,
                   "'graphs: on' needs a GPU, but the device is the CPU (device: cpu)");
    return false;
}

bool orch_graphs_choose(const struct orch_session *s, GError **error)
{
    bool is_gpu = strcmp(s->device, "cpu") != 0, must = is_on(s->training);
    if (g_strcmp0(s->training->graphs, "off") == 0 || (!is_gpu && !must))
        return true;
    if (!is_gpu) {
        orch_error_set(error, ORCH_ERROR_RECIPE, HINT,
                       "'graphs: on' needs a GPU, but 'device: %s' found none",
                       s->training->device);
        return false;
    }
    GError *problem = NULL;
    if (s->torch->graphs_set(s->model, ORCH_TORCH_GRAPHS_ON, &problem))
        return true;
    if (must) {
        g_propagate_prefixed_error(error, problem, "graphs: on: ");
        return false;
    }
    orch_training_note(s->host, "no CUDA graphs: %s", problem->message);
    g_clear_error(&problem);
    return true;
}

bool orch_graphs_note(const struct orch_session *s)
{
    struct orch_torch_graphs_state state;
    s->torch->graphs_get(s->model, &state);
    if (state.mode != ORCH_TORCH_GRAPHS_ON)
        return false;
    const char *reason = state.reason;
    if (!reason && !state.replayed && !state.buffered && !state.ordinary)
        reason = "the plugin has a step of its own";
    if (!reason)
        return false;
    orch_training_note(s->host, "operations are launched one by one, without CUDA graphs: %s",
                       reason);
    return true;
}

void orch_graphs_report(const struct orch_session *s)
{
    struct orch_torch_graphs_state state;
    s->torch->graphs_get(s->model, &state);
    s->host->result(s->host, "cuda_graphs", state.replayed > 0);
}
