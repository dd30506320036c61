/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks the user whether to load compiled plugins that are not trusted. */
#ifndef ORCH_CORE_CONSENT_H
#define ORCH_CORE_CONSENT_H

#include "core/cli/cli.h"

/** Allows this command to load compiled plugins that the user has not trusted yet, after a question
 * on a terminal, or without a question when `trust` (--trust) is set. Allowed plugins are added to
 * the list of trusted plugins. An experiment whose plugin is not allowed is an error. */
void orch_cli_confirm_trust(struct orch_cli *cli, bool trust);

#define ORCH_TRUST_OPTION(type, member)                                                            \
    {                                                                                              \
        .name = "trust", .kind = ORCH_OPT_FLAG, .offset = offsetof(type, member),                  \
        .help = "permanently trust the compiled plugins used here, even if not from orch"          \
    }

#endif
