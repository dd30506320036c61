/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens networks by name: from the zoo, an ONNX file or a table of layers. */
#ifndef ORCH_LIB_NET_OPEN_NET_H
#define ORCH_LIB_NET_OPEN_NET_H

#include "lib/net/cost.h"
#include "lib/net/net.h"

/** Which network: `name` of the zoo, a model.onnx, or a table.csv (of one network); `input`
 * "CxHxW", "HxW" or NULL; `classes` 0: its own. */
struct orch_net_request {
    const char *name, *input;
    int classes;
    /* selects one of several networks in a table; NULL: the table has only one */
    const char *table_net;
};
/** Makes or reads the network. `notes` (char *, or NULL) gets a line for each kind of operator in a
 * file that was counted as zero. NULL with ORCH_ERROR_USAGE (a bad input or number of classes) or
 * with the zoo's or the file's error. The caller frees with orch_net_free. */
struct orch_net *orch_network_open(const struct orch_net_request *request, GPtrArray *notes,
                                   GError **error);

/** The zoo's network for a name declared by a plugin or read from a row; files are not read. NULL
 * when the zoo has no network of that name, input and number of classes (0: the default). The
 * caller frees. */
struct orch_net *orch_network_of_record(const char *name, const char *input, int64_t classes);

#endif
