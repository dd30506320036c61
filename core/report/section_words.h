/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names in the charts and tables of a section as people read them. */
#ifndef ORCH_CORE_REPORT_SECTION_WORDS_H
#define ORCH_CORE_REPORT_SECTION_WORDS_H

#include "core/render/document.h"
#include "core/report/trials.h"

/** Gives a section the labels of the trials' plugins; a name that has one keeps it. */
void orch_section_label(struct orch_section *section, const struct orch_trials *trials);
/** Labels lines and panels of charts whose names are settings ("scaling=strong" is "strong
 * scaling"), and columns of tables whose headers have names of metrics and parameters ("median
 * epoch_time (s)" is "median epoch time (s)"). What has a label keeps it; CSV and JSON keep the
 * names. `names`: what the section is about (item_names.h); NULL: tables are left as they are. */
void orch_section_words(struct orch_section *section, GHashTable *names);

#endif
