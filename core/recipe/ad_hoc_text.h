/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of the recipe of `orch try`: in memory, and in a file for people. Shared by ad_hoc*.c.
 */
#ifndef ORCH_CORE_RECIPE_AD_HOC_TEXT_H
#define ORCH_CORE_RECIPE_AD_HOC_TEXT_H

#include "core/recipe/ad_hoc.h"

/** The recipe with the name `recipe` and one experiment `name`. `command`: the value of `program`
 * (orch_ad_hoc_command). In memory `types` declares the settings, whose values come as options;
 * with `has_values` the values stand in the text. NULL with ORCH_ERROR_USAGE for an option that
 * cannot be written. The caller frees. */
GString *orch_ad_hoc_text(const struct orch_ad_hoc *wish, const char *recipe, const char *name,
                          const char *command, GPtrArray *settings, bool has_values,
                          GError **error);

/** The value of `program` for translated words: a list or, with `is_line` and where that can be
 * read, a command line. The caller frees. */
char *orch_ad_hoc_command(char *const *words, bool is_line);

#endif
