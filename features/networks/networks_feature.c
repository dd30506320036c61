/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The zoo of networks, and their layers; networks in tables of layers. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/feature/feature.h"
#include "lib/base/error.h"
#include "lib/net/open_net.h"
#include "predictors/steps/from_net.h"

extern const struct orch_command ORCH_COMMAND_NET_LS, ORCH_COMMAND_NET_SHOW,
    ORCH_COMMAND_NET_COMPARE, ORCH_COMMAND_NET_FIELD;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_NET_LS, &ORCH_COMMAND_NET_SHOW,
                                                      &ORCH_COMMAND_NET_COMPARE,
                                                      &ORCH_COMMAND_NET_FIELD, NULL};

static struct orch_net *read_table(const struct orch_net_request *request,
                                   struct orch_net_shape input, GPtrArray *notes, GError **error)
{
    (void)input;
    (void)notes;
    if (request->input) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out --input",
                       "option '--input' cannot be used with a layer table");
        return NULL;
    }
    struct orch_layer_table *table =
        orch_layer_table_read(request->name, request->table_net, error);
    struct orch_net *net = table ? orch_net_from_layer_table(table, error) : NULL;
    orch_layer_table_free(table);
    return net;
}

static const struct orch_net_reader TABLE_READER = {.ending = ".csv", .read = read_table};
static const struct orch_net_reader *const READERS[] = {&TABLE_READER, NULL};

static const struct orch_help_topic TOPICS[] = {
    {"networks", "networks.md", NULL, "known networks, their names and counts"}, {0}};

const struct orch_feature ORCH_FEATURE_NETWORKS = {
    .commands = COMMANDS,
    .net_readers = READERS,
    .topics = TOPICS,
};
