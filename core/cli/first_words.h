/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_CORE_CLI_FIRST_WORDS_H
#define ORCH_CORE_CLI_FIRST_WORDS_H

#include "core/cli/cli.h"

/** Prints to stderr what to type next in the current folder: a line for each kind of thing that
 * it has, which are scripts, recipes and a store. */
void orch_first_words(struct orch_cli *cli);

#endif
