/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences about printed values that were not recorded, at the end of a run and in `orch show`. */
#ifndef ORCH_CORE_COMMANDS_LOSS_WORDS_H
#define ORCH_CORE_COMMANDS_LOSS_WORDS_H

#include "lib/wire/text_losses.h"

/** "2 metrics were printed under names that differ ..., first: val_loss; they are recorded as one".
 * NULL: there are none. The caller frees. */
char *orch_cli_loss_said(enum orch_text_loss kind, const struct orch_text_losses *losses);

#endif
