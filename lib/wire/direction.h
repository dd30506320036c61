/* SPDX-License-Identifier: MIT */
/* Which values of a metric are better, the lower or the higher: as asked for, else as its plugin or
 * its search declares, else by its unit and its name. Everything that ranks, compares or stops goes
 * by this one rule. */
#ifndef ORCH_WIRE_DIRECTION_H
#define ORCH_WIRE_DIRECTION_H

#include <glib.h>
#include <orch/plugin.h>
#include <stdbool.h>

struct orch_direction {
    enum orch_better better; /* ORCH_BETTER_NONE: not known */
    const char *by;          /* "name" or "unit"; NULL: asked for, declared, or not known. Static */
};

/** The direction of a metric that is declared so; `unit` may be NULL. */
struct orch_direction orch_direction_of(const char *name, const char *unit,
                                        enum orch_better declared);

/** "none", "min" or "max". */
const char *orch_better_word(enum orch_better better);
/** All three, in the enum's order, then NULL. */
const char *const *orch_better_words(void);
/** The direction that a word names; ORCH_BETTER_NONE for any other text, and for NULL. */
enum orch_better orch_better_parse(const char *word);

/** "loss: lower is better (by its name; --max turns it round)", for an answer that name or unit
 * decided; NULL for any other. `options`: there are --min and --max. The caller frees. */
char *orch_direction_said(const char *name, struct orch_direction direction, bool options);

/** The hint of a command that has these options. */
#define ORCH_DIRECTION_HINT "--min: the lower the better; --max: the higher the better"

/** Sets the error for a metric whose direction is not known; `hint` says how to give it. False. */
bool orch_direction_unknown(const char *name, const char *hint, GError **error);

#endif
