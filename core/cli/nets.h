/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks as they are named on the command line. */
#ifndef ORCH_CORE_CLI_NETS_H
#define ORCH_CORE_CLI_NETS_H

#include "lib/net/net.h"

/** What makes one: `name` of the zoo, a model.onnx, or a table.csv (of one network); `input`
 * "CxHxW", "HxW" or NULL; `classes` 0: its own. */
struct orch_net_request {
    const char *name, *input;
    int classes;
    const char *table_net; /* of a table of several: which; NULL: its only one */
};
/** NULL with ORCH_ERROR_USAGE (a bad --input or --classes) or the zoo's or the file's error. What
 * was counted as zero in a file is said on stderr. */
struct orch_net *orch_cli_net(const struct orch_net_request *request, GError **error);

/** A whole number of 1 to `most`; NULL leaves `*inout` alone. ORCH_ERROR_USAGE naming the option.
 */
bool orch_cli_count(const char *text, const char *option, int64_t most, int64_t *inout,
                    GError **error);

#endif
