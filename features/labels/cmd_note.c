/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds notes, tags and names to runs that have ended. */
#include "core/cli/cli.h"

#include "features/labels/run_labels.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

struct note_options {
    bool is_public, remove;
};

#define PUBLIC(label)                                                                              \
    ORCH_OPTION(struct note_options, is_public, FLAG, "public",                                    \
                .help = "share the " label " when you push your runs")

static const struct orch_option NOTE_OPTIONS[] = {PUBLIC("note"), {0}};
static const struct orch_option TAG_OPTIONS[] = {
    ORCH_OPTION(struct note_options, remove, FLAG, "remove", .help = "remove the tags"),
    PUBLIC("tags"),
    {0}};
static const struct orch_option NAME_OPTIONS[] = {
    ORCH_OPTION(struct note_options, remove, FLAG, "remove", .help = "remove the name"),
    PUBLIC("name"),
    {0}};

static json_t *texts_json(const GPtrArray *texts)
{
    json_t *array = json_array();
    for (guint i = 0; i < texts->len; i++)
        json_array_append_new(array, json_string(texts->pdata[i]));
    return array;
}

/* ---- orch note --------------------------------------------------------------------------------
 */

static bool print_notes(struct orch_cli *cli, struct orch_store *store, const char *named,
                        GError **error)
{
    g_autofree char *key = NULL;
    g_autoptr(GPtrArray) notes = orch_run_notes(store, named, &key, error);
    json_t *array = json_array();
    for (guint i = 0; notes && i < notes->len; i++) {
        const struct orch_run_note *note = notes->pdata[i];
        json_array_append_new(
            array, json_pack("{s:s? s:b}", "text", note->text, "public", (int)note->is_public));
        if (!cli->json)
            orch_cli_print("%s\n", note->text ? note->text : "");
    }
    if (notes && cli->json)
        orch_cli_print_json(json_pack("{s:s s:O}", "run", key, "notes", array));
    json_decref(array);
    return notes != NULL;
}

static int run_note(struct orch_cli *cli, const void *options, GError **error)
{
    const struct note_options *o = options;
    bool writes = cli->arg_count > 1;
    g_autofree char *key = NULL;
    struct orch_store *store =
        orch_cli_store(cli, writes ? ORCH_STORE_WRITE : ORCH_STORE_READ, error);
    if (!store || (writes && !orch_run_add_note(store, cli->args[0], cli->args[1], o->is_public,
                                                &key, error)))
        return -1;
    if (!writes || cli->json)
        return print_notes(cli, store, key ? key : cli->args[0], error) ? ORCH_EXIT_OK : -1;
    orch_cli_info(cli, "added the note to run %s%s", orch_run_short_key(key),
                  o->is_public ? ", for everybody" : "");
    return ORCH_EXIT_OK;
}

/* ---- orch tag ---------------------------------------------------------------------------------
 */

/* Prints the tags as JSON, or a line for each when they were asked for. */
static void print_tags(struct orch_cli *cli, const GPtrArray *runs)
{
    json_t *rows = json_array();
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_tagged_run *run = runs->pdata[i];
        json_array_append_new(
            rows, json_pack("{s:s s:o}", "run", run->key, "tags", texts_json(run->tags)));
        for (guint j = 0; !cli->json && cli->arg_count == 1 && j < run->tags->len; j++)
            orch_cli_print_line("%s", (const char *)run->tags->pdata[j]);
    }
    if (cli->json)
        orch_cli_print_json(json_pack("{s:o}", "runs", rows));
    else
        json_decref(rows);
}

static int run_tag(struct orch_cli *cli, const void *options, GError **error)
{
    const struct note_options *o = options;
    bool writes = cli->arg_count > 1;
    unsigned changed = 0;
    for (int i = 1; i < cli->arg_count; i++)
        if (!orch_run_check_label("tag", cli->args[i], error))
            return -1;
    struct orch_store *store =
        orch_cli_store(cli, writes ? ORCH_STORE_WRITE : ORCH_STORE_READ, error);
    if (!store)
        return -1;
    g_autoptr(GPtrArray) runs = writes
                                    ? orch_run_change_tags(store, cli->args[0], cli->args + 1,
                                                           o->remove, o->is_public, &changed, error)
                                    : orch_run_tags(store, cli->args[0], error);
    if (!runs)
        return -1;
    print_tags(cli, runs);
    if (writes && !cli->json)
        orch_cli_info(cli, "%s %u tag%s %s %u run%s%s", o->remove ? "took" : "put", changed,
                      orch_plural(changed), o->remove ? "from" : "on", runs->len,
                      orch_plural(runs->len), o->is_public && !o->remove ? ", for everybody" : "");
    return ORCH_EXIT_OK;
}

/* ---- orch name --------------------------------------------------------------------------------
 */

static int run_name(struct orch_cli *cli, const void *options, GError **error)
{
    const struct note_options *o = options;
    bool writes = cli->arg_count > 1 || o->remove;
    if (cli->arg_count > 1 && !orch_run_check_label("name", cli->args[1], error))
        return -1;
    if (cli->arg_count > 1 && o->remove) {
        orch_error_set(error, ORCH_ERROR_USAGE, "run 'orch name RUN --remove' without a new name",
                       "option '--remove' excludes a new name");
        return -1;
    }
    struct orch_store *store =
        orch_cli_store(cli, writes ? ORCH_STORE_WRITE : ORCH_STORE_READ, error);
    g_autofree char *key = NULL, *name = NULL, *taken = NULL;
    if (!store || !orch_run_rename(store, cli->args[0], o->remove ? "" : cli->args[1], o->is_public,
                                   &key, &name, &taken, error))
        return -1;
    if (cli->json)
        orch_cli_print_json(json_pack("{s:s s:s?}", "run", key, "name", name));
    else if (!writes && name)
        orch_cli_print_line("%s", name);
    if (!writes || cli->json)
        return ORCH_EXIT_OK;
    if (o->remove) {
        orch_cli_info(cli, "run %s no longer has a name", orch_run_short_key(key));
        return ORCH_EXIT_OK;
    }
    orch_cli_info(cli, "run %s is '%s' now", orch_run_short_key(key), cli->args[1]);
    if (taken)
        orch_cli_warn(cli, "'%s' still means run %s, which also has this name and began later",
                      cli->args[1], orch_run_short_key(taken));
    return ORCH_EXIT_OK;
}

#define PRIVACY(thing)                                                                             \
    " " thing " stays in this store. With --public, it is sent with your runs, under your name."

const struct orch_command ORCH_COMMAND_NOTE = {
    .name = "note",
    .group = "Look at results",
    .summary = "add a note to a run, or read its notes",
    .usage = "RUN [TEXT]",
    .min_args = 1,
    .max_args = 2,
    .options = NOTE_OPTIONS,
    .option_bytes = sizeof(struct note_options),
    .about = "'orch show' prints the notes of a run; 'orch ls --where \"note ~ word\"' finds the "
             "run." PRIVACY("A note"),
    .examples = "  orch note @last 'with the old split'\n"
                "  orch note @last\n"
                "  orch ls --where 'note ~ split'",
    .run = run_note,
};

const struct orch_command ORCH_COMMAND_TAG = {
    .name = "tag",
    .group = "Look at results",
    .summary = "add tags to runs, remove them, or list them",
    .usage = "RUN|FILTER [TAG...]",
    .min_args = 1,
    .max_args = -1,
    .options = TAG_OPTIONS,
    .option_bytes = sizeof(struct note_options),
    .about = "With FILTER, orch tags all matching runs in state ok or diverged. With --remove, "
             "another user's tag is removed only in this store." PRIVACY("A tag"),
    .examples = "  orch tag @last paper baseline\n"
                "  orch tag 'lr=0.1' good\n"
                "  orch tag @last baseline --remove\n"
                "  orch ls --tag paper",
    .run = run_tag,
};

const struct orch_command ORCH_COMMAND_NAME = {
    .name = "name",
    .group = "Look at results",
    .summary = "name a run; commands accept the name as RUN",
    .usage = "RUN [NAME]",
    .min_args = 1,
    .max_args = 2,
    .options = NAME_OPTIONS,
    .option_bytes = sizeof(struct note_options),
    .about = "A run has one name. If several runs have the same name, the name means the run that "
             "started last." PRIVACY("A name"),
    .examples = "  orch name @last base\n"
                "  orch show base\n"
                "  orch name base --remove",
    .run = run_name,
};
