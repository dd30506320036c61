/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models of PyTorch by their operators, as orch.export_ops of share/python writes them. */
#include "core/feature/feature.h"
#include "features/operators/operators.h"
#include "lib/net/open_net.h"

static struct orch_net *read_file(const struct orch_net_request *request,
                                  struct orch_net_shape input, GPtrArray *notes, GError **error)
{
    return orch_operators_load(request->name, input, notes, error);
}

static const struct orch_net_reader READER = {
    .ending = ".jsonl",
    .made_by = "orch.export_ops(model, inputs, \"model.jsonl\") in Python",
    .has_fixed_input = true,
    .read = read_file,
};
static const struct orch_net_reader *const READERS[] = {&READER, NULL};

const struct orch_feature ORCH_FEATURE_OPERATORS = {.net_readers = READERS};
