/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of commands, in the order in which help shows them. */
#include "core/cli/cli.h"

/* clang-format off */
#define COMMANDS(X)                                                                                \
    X(RUN) X(PLAN) X(CHECK) X(CONFIG) X(TRY) X(RECORD) X(INIT)                                              \
    X(REPORT) X(SUBMIT) X(TABLE) X(PLOT) X(LS) X(SHOW) X(LOG) X(NOTE) X(TAG) X(NAME) X(SERVE) X(BEST) X(COMPARE) X(EXPORT) X(DIFF) X(CHECKOUT)  \
    X(PLUGIN_LS) X(PLUGIN_SHOW) X(PLUGIN_CHECK) X(PLUGIN_NEW) X(PLUGIN_TRUST)                      \
    X(NET_LS) X(NET_SHOW) X(NET_COMPARE) X(NET_FIELD) X(GPU_LS) X(GPU_SHOW) X(GPU_LINKS) X(GPU_PRICES) X(PREDICT) X(PREDICTOR_EVAL) \
    X(PREDICTOR_ROWS) X(PREDICTOR_TRAIN) X(PREDICTOR_LS) X(PREDICTOR_SHOW) X(PREDICTOR_EXPORT) X(PREDICTOR_RM) \
    X(DATA_LS) X(DATA_GET) X(IMPORT) X(DATASET_LS) X(DATASET_SHOW) X(DATASET_RM) X(DATASET_EXPORT) \
    X(PULL) X(PUSH) X(STATUS) X(COVERAGE) X(COST) X(PACK) X(VERIFY)                                \
    X(RM) X(PURGE) X(GC) X(DB_INFO) X(DB_CHECK) X(DB_BACKUP) X(DB_MIGRATE) X(DB_MERGE) X(DB_REPAIR) X(DB_ADOPT) \
    X(DOCTOR) X(COMPLETION) X(HELP)
/* clang-format on */

#define DECLARE(name) extern const struct orch_command ORCH_COMMAND_##name;
COMMANDS(DECLARE)
#undef DECLARE

#define ROW(name) &ORCH_COMMAND_##name,
const struct orch_command *const ORCH_COMMANDS[] = {COMMANDS(ROW) NULL};
#undef ROW
