/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds notes, tags and names to runs that have ended. */
#include "core/cli/cli.h"
#include "store/find.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

enum { NOTE_BYTES_MAX = 100000 };

struct note_options {
    bool is_public, remove;
};

#define PUBLIC                                                                                     \
    {                                                                                              \
        "public", 0, NULL, ORCH_OPT_FLAG, offsetof(struct note_options, is_public),                \
            "send it to the group with 'orch push' (default: it stays in this store)"              \
    }

static const struct orch_option NOTE_OPTIONS[] = {PUBLIC, {0}};
static const struct orch_option TAG_OPTIONS[] = {
    {"remove", 0, NULL, ORCH_OPT_FLAG, offsetof(struct note_options, remove), "remove the tags"},
    PUBLIC,
    {0}};
static const struct orch_option NAME_OPTIONS[] = {
    {"remove", 0, NULL, ORCH_OPT_FLAG, offsetof(struct note_options, remove), "remove the name"},
    PUBLIC,
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

static bool print_notes(struct orch_cli *cli, struct orch_store *store, const char *key,
                        GError **error)
{
    g_autoptr(GPtrArray) notes = orch_store_notes(store, key, error);
    json_t *array = json_array();
    for (guint i = 0; notes && i < notes->len; i++) {
        const struct orch_stored_note *note = notes->pdata[i];
        if (strcmp(note->kind, "note") != 0)
            continue;
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
    struct orch_store *store =
        orch_cli_store(cli, writes ? ORCH_STORE_WRITE : ORCH_STORE_READ, error);
    struct orch_run *run = store ? orch_store_run(store, cli->args[0], error) : NULL;
    if (!run)
        return -1;
    g_autofree char *key = g_strdup(run->key);
    orch_run_free(run);
    if (!writes)
        return print_notes(cli, store, key, error) ? ORCH_EXIT_OK : -1;
    const char *text = cli->args[1];
    if (!*text || strlen(text) > NOTE_BYTES_MAX || !g_utf8_validate(text, -1, NULL)) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "a note is UTF-8 text of 1 to %d bytes; this one has %zu", NOTE_BYTES_MAX,
                       strlen(text));
        return -1;
    }
    if (!orch_store_note(store, key, "note", o->is_public, text, error))
        return -1;
    if (cli->json)
        return print_notes(cli, store, key, error) ? ORCH_EXIT_OK : -1;
    orch_cli_say(cli, "noted at run %s%s", orch_cli_short_key(key),
                 o->is_public ? ", for everybody" : "");
    return ORCH_EXIT_OK;
}

/* ---- orch tag ---------------------------------------------------------------------------------
 */

static bool check_label(const char *what, const char *text, GError **error)
{
    if (orch_label_is_valid(text) && !strchr("@-", *text))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "one word of at most 200 bytes, not beginning with '-' or '@'",
                   "%s '%s': not a word", what, text);
    return false;
}

/* Adds or removes one tag; counts changes in `*io_changed`. */
static bool apply_tag(struct orch_store *store, const char *key, const char *tag,
                      const struct note_options *o, unsigned *io_changed, GError **error)
{
    if (o->remove) {
        bool had;
        if (!orch_store_untag(store, key, tag, &had, error))
            return false;
        *io_changed += had;
        return true;
    }
    g_autoptr(GPtrArray) tags = orch_store_tags(store, key, error);
    bool has = tags && g_ptr_array_find_with_equal_func(tags, tag, g_str_equal, NULL);
    *io_changed += !has;
    return tags &&
           ((has && !o->is_public) || orch_store_note(store, key, "tag", o->is_public, tag, error));
}

static bool show_tags(struct orch_cli *cli, struct orch_store *store, const GPtrArray *runs,
                      GError **error)
{
    json_t *rows = json_array();
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        g_autoptr(GPtrArray) tags = orch_store_tags(store, run->key, error);
        if (!tags) {
            json_decref(rows);
            return false;
        }
        json_array_append_new(rows,
                              json_pack("{s:s s:o}", "run", run->key, "tags", texts_json(tags)));
        for (guint j = 0; !cli->json && cli->arg_count == 1 && j < tags->len; j++)
            orch_cli_print_line("%s", (const char *)tags->pdata[j]);
    }
    if (cli->json)
        orch_cli_print_json(json_pack("{s:o}", "runs", rows));
    else
        json_decref(rows);
    return true;
}

static int run_tag(struct orch_cli *cli, const void *options, GError **error)
{
    const struct note_options *o = options;
    bool writes = cli->arg_count > 1;
    for (int i = 1; i < cli->arg_count; i++)
        if (!check_label("tag", cli->args[i], error))
            return -1;
    struct orch_store *store =
        orch_cli_store(cli, writes ? ORCH_STORE_WRITE : ORCH_STORE_READ, error);
    g_autoptr(GPtrArray) runs = store ? orch_store_find_runs(store, cli->args[0], error) : NULL;
    if (!runs)
        return -1;
    unsigned changed = 0;
    for (guint i = 0; i < runs->len; i++)
        for (int j = 1; j < cli->arg_count; j++)
            if (!apply_tag(store, ((const struct orch_run *)runs->pdata[i])->key, cli->args[j], o,
                           &changed, error))
                return -1;
    if (!show_tags(cli, store, runs, error))
        return -1;
    if (writes && !cli->json)
        orch_cli_say(cli, "%s %u tag%s %s %u run%s%s", o->remove ? "took" : "put", changed,
                     changed == 1 ? "" : "s", o->remove ? "from" : "on", runs->len,
                     runs->len == 1 ? "" : "s",
                     o->is_public && !o->remove ? ", for everybody" : "");
    return ORCH_EXIT_OK;
}

/* ---- orch name --------------------------------------------------------------------------------
 */

/* Says which run had the name before. */
static void say_moved(struct orch_cli *cli, struct orch_store *store, const char *key,
                      const char *name)
{
    struct orch_run *now = orch_store_run(store, name, NULL);
    if (now && strcmp(now->key, key) != 0)
        orch_cli_warn(cli, "'%s' still means run %s, which began later", name,
                      orch_cli_short_key(now->key));
    orch_run_free(now);
}

static bool answer_name(struct orch_cli *cli, struct orch_store *store, const char *key,
                        GError **error)
{
    GError *problem = NULL;
    g_autofree char *name = orch_store_name(store, key, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    if (cli->json)
        orch_cli_print_json(json_pack("{s:s s:s?}", "run", key, "name", name));
    else if (cli->arg_count == 1 && name)
        orch_cli_print_line("%s", name);
    return true;
}

static int run_name(struct orch_cli *cli, const void *options, GError **error)
{
    const struct note_options *o = options;
    bool writes = cli->arg_count > 1 || o->remove;
    if (cli->arg_count > 1 && !check_label("name", cli->args[1], error))
        return -1;
    if (cli->arg_count > 1 && o->remove) {
        orch_error_set(error, ORCH_ERROR_USAGE, "orch name RUN --remove",
                       "option '--remove' takes the name away; another one was given");
        return -1;
    }
    struct orch_store *store =
        orch_cli_store(cli, writes ? ORCH_STORE_WRITE : ORCH_STORE_READ, error);
    struct orch_run *run = store ? orch_store_run(store, cli->args[0], error) : NULL;
    if (!run)
        return -1;
    g_autofree char *key = g_strdup(run->key);
    orch_run_free(run);
    const char *name = o->remove ? "" : cli->args[1];
    if (writes && !orch_store_set_name(store, key, name, o->is_public, error))
        return -1;
    if (!answer_name(cli, store, key, error))
        return -1;
    if (!writes || cli->json)
        return ORCH_EXIT_OK;
    if (o->remove) {
        orch_cli_say(cli, "run %s has no name any more", orch_cli_short_key(key));
        return ORCH_EXIT_OK;
    }
    orch_cli_say(cli, "run %s is '%s' now", orch_cli_short_key(key), name);
    say_moved(cli, store, key, name);
    return ORCH_EXIT_OK;
}

#define PRIVACY                                                                                    \
    " It stays in this store unless --public is given; then 'orch push' sends it, with your name."

const struct orch_command ORCH_COMMAND_NOTE = {
    .name = "note",
    .group = "Looking",
    .summary = "add a note to a run, or read its notes",
    .usage = "RUN [TEXT]",
    .min_args = 1,
    .max_args = 2,
    .options = NOTE_OPTIONS,
    .option_bytes = sizeof(struct note_options),
    .about = "'orch show' prints the notes of a run; 'orch ls --where \"note ~ word\"' finds "
             "it." PRIVACY,
    .examples = "  orch note @last 'with the old split'\n"
                "  orch note @last\n"
                "  orch ls --where 'note ~ split'",
    .run = run_note,
};

const struct orch_command ORCH_COMMAND_TAG = {
    .name = "tag",
    .group = "Looking",
    .summary = "add tags to runs, remove them, or list them",
    .usage = "RUN|FILTER [TAG...]",
    .min_args = 1,
    .max_args = -1,
    .options = TAG_OPTIONS,
    .option_bytes = sizeof(struct note_options),
    .about = "A filter tags all runs that match and ended ok or diverged. --remove removes your "
             "own tag for everybody, and another user's tag in this store only." PRIVACY,
    .examples = "  orch tag @last paper baseline\n"
                "  orch tag 'lr=0.1' good\n"
                "  orch tag @last baseline --remove\n"
                "  orch ls --tag paper",
    .run = run_tag,
};

const struct orch_command ORCH_COMMAND_NAME = {
    .name = "name",
    .group = "Looking",
    .summary = "name a run; commands accept the name as RUN",
    .usage = "RUN [NAME]",
    .min_args = 1,
    .max_args = 2,
    .options = NAME_OPTIONS,
    .option_bytes = sizeof(struct note_options),
    .about = "When several runs have a name, it means the one that started last. The newest name "
             "of a run "
             "counts; only a run's author can name it for others." PRIVACY,
    .examples = "  orch name @last base\n"
                "  orch show base\n"
                "  orch name base --remove",
    .run = run_name,
};
