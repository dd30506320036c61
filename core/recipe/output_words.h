/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells from an option's name that its value is a file which the command writes. Such a file may
 * lie there from an earlier run, but is no input. */
#ifndef ORCH_CORE_RECIPE_OUTPUT_WORDS_H
#define ORCH_CORE_RECIPE_OUTPUT_WORDS_H

#include <stdbool.h>

/** True for the value of an option such as -o, --out, --output-dir or --save_to: `word` is the
 * option with its value ("--out=a.csv"), or the value behind it, in which case `before` is the
 * option. `before` may be NULL. */
bool orch_word_is_output(const char *before, const char *word);

#endif
