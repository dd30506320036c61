/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which words of a program's command name what it wrote: two commands that differ in such a word
 * alone are one setting (core/stats/tried_command.h). */
#ifndef ORCH_CORE_RECORD_WRITTEN_WORDS_H
#define ORCH_CORE_RECORD_WRITTEN_WORDS_H

#include "core/record/trial_contents.h"

/** Adds ORCH_FACT_WRITTEN_WORDS to the facts of a trial whose opened files were noted
 * (core/inputs/opened.h). `trial`: its trial.json, or NULL. */
void orch_written_words_note(struct gathering *all, const json_t *trial);

#endif
