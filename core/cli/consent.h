/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asking the user about a compiled plugin from elsewhere. */
#ifndef ORCH_CLI_CONSENT_H
#define ORCH_CLI_CONSENT_H

#include "core/cli/cli.h"

/** From now on this command may load compiled plugins that the user has not trusted yet, after a
 * question on a terminal, or without one when `trust` (--trust) is set. What is allowed is put on
 * the list of trusted plugins, and an experiment whose plugin is not allowed is an error. */
void orch_cli_ask_for_trust(struct orch_cli *cli, bool trust);

#define ORCH_TRUST_OPTION(type, member)                                                            \
    {                                                                                              \
        "trust", 0, NULL, ORCH_OPT_FLAG, offsetof(type, member),                                   \
            "trust compiled plugins from elsewhere, now and later"                                 \
    }

#endif
