/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/initial.h"

#include "lib/base/ident.h"
#include "lib/net/net.h"
#include "plugins/common/data/whitening.h"
#include "plugins/common/training/first_layer.h"
#include "plugins/common/training/work.h"

#include <string.h>

static bool whiten(struct orch_session *s, const struct orch_net_node *first, GError **error)
{
    const struct orch_image_set *d = s->train_set;
    const struct orch_transforms normalisation = orch_work_normalisation(s->training);
    const struct orch_whitening whitening = {.kernel_h = first->kernel_h,
                                             .kernel_w = first->kernel_w,
                                             .filters = (int)first->out_channels,
                                             .epsilon = s->training->whiten_epsilon};
    const struct orch_net_tensor *tensor = orch_net_tensor(s->net, first->first_tensor);
    g_autofree float *filters = g_new(float, tensor->count);
    g_autofree struct orch_transform_table *table = g_new(struct orch_transform_table, 1);
    orch_transforms_table(&normalisation, d->mean, d->std, table);
    orch_whitening_filters(s->train, table, &whitening, filters);
    return s->torch->tensor_set(s->model, (size_t)first->first_tensor, filters, error);
}

bool orch_initial_filters(struct orch_session *s, GError **error)
{
    const struct orch_training *t = s->training;
    const struct orch_net_node *first = t->whiten ? orch_first_layer(s->net) : NULL;
    if (t->filter_init && strcmp(t->filter_init, "dirac") == 0 &&
        !orch_torch_init_dirac(s->torch, s->model, s->net, first ? first->id : -1, error))
        return false;
    if (!first)
        return true;
    int64_t begin = orch_mono_ns();
    bool ok = whiten(s, first, error);
    s->prepare_s = (double)(orch_mono_ns() - begin) / 1e9;
    return ok;
}
