/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line that is stored with every run. */
#ifndef ORCH_CORE_RECORD_ARGV_RECORD_H
#define ORCH_CORE_RECORD_ARGV_RECORD_H

#include "core/recipe/recipe.h"

/** Returns the words as the text of a JSON array. Values that they set for secret parameters of
 * `expansion` (may be NULL), and words after "--" that look like secrets (lib/wire/secret.h), are
 * left out, because the text is shared with the run. The caller frees. */
char *orch_argv_record(char *const *argv, int argc, const struct orch_expansion *expansion);

#endif
