/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Core's own row of the list of features: the commands and the kinds of report items that
 * every user of orch needs. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_RUN, ORCH_COMMAND_PLAN, ORCH_COMMAND_CHECK,
    ORCH_COMMAND_TRY, ORCH_COMMAND_INIT, ORCH_COMMAND_REPORT, ORCH_COMMAND_LS, ORCH_COMMAND_SHOW,
    ORCH_COMMAND_LOG, ORCH_COMMAND_PLUGIN_LS, ORCH_COMMAND_PLUGIN_SHOW, ORCH_COMMAND_PLUGIN_BUILD,
    ORCH_COMMAND_PLUGIN_TRUST, ORCH_COMMAND_RM, ORCH_COMMAND_PURGE, ORCH_COMMAND_GC,
    ORCH_COMMAND_DB_INFO, ORCH_COMMAND_DB_CHECK, ORCH_COMMAND_DB_BACKUP, ORCH_COMMAND_DB_MIGRATE,
    ORCH_COMMAND_HELP;

/* clang-format off */
static const struct orch_command *const COMMANDS[] = {
    &ORCH_COMMAND_RUN, &ORCH_COMMAND_PLAN, &ORCH_COMMAND_CHECK,
    &ORCH_COMMAND_TRY, &ORCH_COMMAND_INIT, &ORCH_COMMAND_REPORT,
    &ORCH_COMMAND_LS, &ORCH_COMMAND_SHOW, &ORCH_COMMAND_LOG,
    &ORCH_COMMAND_PLUGIN_LS, &ORCH_COMMAND_PLUGIN_SHOW, &ORCH_COMMAND_PLUGIN_BUILD,
    &ORCH_COMMAND_PLUGIN_TRUST, &ORCH_COMMAND_RM, &ORCH_COMMAND_PURGE, &ORCH_COMMAND_GC,
    &ORCH_COMMAND_DB_INFO, &ORCH_COMMAND_DB_CHECK, &ORCH_COMMAND_DB_BACKUP,
    &ORCH_COMMAND_DB_MIGRATE, &ORCH_COMMAND_HELP,
    NULL};
/* clang-format on */

extern const struct orch_report_kind ORCH_REPORT_TEXT, ORCH_REPORT_TABLE, ORCH_REPORT_FACTS,
    ORCH_REPORT_STUDENT;

static const struct orch_report_kind *const REPORT_KINDS[] = {
    &ORCH_REPORT_TEXT, &ORCH_REPORT_TABLE, &ORCH_REPORT_FACTS, &ORCH_REPORT_STUDENT, NULL};

/* Words of other programs for what is here. */
static const struct orch_typed_word WORDS[] = {
    {"remove", "'orch rm RUN' hides a run"},
    {"delete", "'orch rm RUN' hides a run"},
    {"undo", "'orch rm --undo RUN' brings a removed run back"},
    {"restore", "'orch rm --undo RUN' brings a removed run back"},
    {"list", "'orch ls' lists runs"},
    {0}};

/* Pages of the manual that any user needs. */
static const struct orch_help_topic TOPICS[] = {
    {"tutorial", "tutorial.md", NULL, "from nothing to a hand-in in half an hour"},
    {"recipes", "recipes.md", NULL, "how a recipe is written"},
    {"inputs", "inputs.md", NULL, "which files make a result stale when they change"},
    {"filters", "where.md", NULL, "which runs a command takes: --where 'lr > 0.01 and state = ok'"},
    {"printed-values", "printed-values.md", NULL, "which printed lines become metrics"},
    {"logged-files", "loggers.md", NULL, "which files of a program's loggers become metrics"},
    {"python", "python.md", NULL, "recording from Python"},
    {"plugins", "plugins.md", NULL, "how a program becomes a plugin"},
    {"protocol", "protocol.md", NULL, "messages between a plugin and orch"},
    {"reports", "reports.md", NULL, "the items of a report"},
    {"charts", "charts.md", NULL, "charts, and how to save them as files"},
    {"slots", "slots.md", NULL, "how runs share the GPUs and CPUs of a machine"},
    {"checkpoints", "checkpoints.md", NULL, "how a trial goes on after a crash"},
    {"coming-from", "coming-from.md", NULL, "the words and runs of other tools"},
    {"failed", "faults.md", NULL, "states of a run, messages, and what to do"},
    {"debugging", "debugging.md", NULL, "how one trial is run by hand"},
    {"run-fields", "run-fields.md", NULL, "the names of a run's fields in tables and JSON"},
    {"store", "store.md", NULL, "the file with the results"},
    {"data", "data.md", NULL, "training sets and weights"},
    {"environments", "plugins/replay.md", "Environments", "environments of the plugin replay"},
    {"install", "install.md", NULL, "ways to install"},
    {"files", "install.md", "Where orch writes", "where orch writes, and what may be deleted"},
    {"environment", "environment.md", "Environment variables", "variables that orch reads"},
    {"exit-status", "environment.md", "Exit status", "what a command's exit status means"},
    {"glossary", "glossary.md", NULL, "what the words of orch mean"},
    {0}};

const struct orch_feature ORCH_CORE = {
    .commands = COMMANDS, .report_kinds = REPORT_KINDS, .words = WORDS, .topics = TOPICS};
