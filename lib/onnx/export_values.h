/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is exported: a network of the zoo, with the weights of a file, or those with which a
 * training starts. */
#ifndef ORCH_LIB_ONNX_EXPORT_VALUES_H
#define ORCH_LIB_ONNX_EXPORT_VALUES_H

#include "lib/net/net.h"
#include "lib/onnx/onnx_export.h"
#include "lib/onnx/onnx_model.h"

struct onnx_export_source {
    struct orch_net *net;
    float **values;      /* by tensor, or NULL for those that are not exported */
    GPtrArray *metadata; /* char *: a key, its value, the next key, ... */
    char *weights;       /* in words where the values are from: "run 4f2a9c1b" */
};

/** The network to build, and where its weights are. */
struct onnx_export_request {
    struct orch_net_options net;
    const char *weights; /* file; NULL: initial values */
    uint64_t seed;       /* of the initial values */
};

/** Builds the network and reads or makes its values. Fails with ORCH_ERROR_CHECK for the weights of
 * another network, naming the first tensors that differ. Clear with
 * orch_onnx_export_source_clear in any case. */
bool orch_onnx_export_source_open(const struct onnx_export_request *request,
                                  struct onnx_export_source *out, GError **error);

/** Initialises `m` with the network and its metadata, as orch_onnx_export does. Sets net and values
 * of `e`. The source must remain until `m` is written. */
bool orch_onnx_export_source_model(const struct onnx_export_source *s, struct onnx_export *e,
                                   struct onnx_model *m, GError **error);

void orch_onnx_export_source_clear(struct onnx_export_source *source);

/** The steps of orch_onnx_export_source_open, for whoever finds the weights otherwise: builds the
 * network, reads its values from file `path` (`what` names it in errors), and adds to the metadata.
 */
bool orch_onnx_export_source_net(const struct orch_net_options *options,
                                 struct onnx_export_source *s, GError **error);
bool orch_onnx_export_source_read(struct onnx_export_source *s, const char *path, const char *what,
                                  GError **error);
void orch_onnx_export_source_describe(struct onnx_export_source *s, const char *key,
                                      const char *value);

#endif
