/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens networks by name: from the zoo, or from a file through a reader of its format. */
#ifndef ORCH_LIB_NET_OPEN_NET_H
#define ORCH_LIB_NET_OPEN_NET_H

#include "lib/net/cost.h"
#include "lib/net/net.h"

/** Which network: `name` of the zoo, or of a file that a reader knows (a model.onnx, a table.csv);
 * `input` "CxHxW", "HxW" or NULL; `classes` 0: its own. */
struct orch_net_request {
    const char *name, *input;
    int classes;
    /* selects one of several networks in a table; NULL: the table has only one */
    const char *table_net;
};

/** Reads the files of one format. */
struct orch_net_reader {
    const char *ending;   /* of the file's name: ".onnx"; a whole name is also found in a folder */
    const char *made_by;  /* what writes such a file of a user's own model; NULL: not said */
    bool has_fixed_input; /* a file says the sizes of its input, which others do not fit */
    /** Reads the file `request->name`. `input` is the parsed size; 0: the file's own. `notes` and
     * errors are as of orch_net_open. */
    struct orch_net *(*read)(const struct orch_net_request *request, struct orch_net_shape input,
                             GPtrArray *notes, GError **error);
};

/** Reads the value of an option --input, "3x224x224", into channels, height and width. Fails with
 * ORCH_ERROR_USAGE. */
bool orch_net_input_read(const char *text, struct orch_net_options *out, GError **error);

/** The reader of a file by its name; NULL: none. */
const struct orch_net_reader *orch_net_reader_of(const struct orch_net_reader *const *readers,
                                                 const char *name);

/** Makes or reads the network; `readers` ends with NULL. `notes` (char *, or NULL) gets a line for
 * each kind of operator in a file that was counted as zero. NULL with ORCH_ERROR_USAGE (a bad input
 * or number of classes) or with the zoo's or the file's error. The caller frees with orch_net_free.
 */
struct orch_net *orch_net_open(const struct orch_net_reader *const *readers,
                               const struct orch_net_request *request, GPtrArray *notes,
                               GError **error);

/** The zoo's network for a name declared by a plugin or read from a row; files are not read. NULL
 * when the zoo has no network of that name, input and number of classes (0: the default). The
 * caller frees. */
struct orch_net *orch_network_of_record(const char *name, const char *input, int64_t classes);

#endif
