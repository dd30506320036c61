/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds to, shows and removes from the list of compiled plugins that may be loaded. */
#include "core/cli/cli.h"

#include "core/plugin/trust.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>
#include <unistd.h>

struct trust_options {
    bool list, remove;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct trust_options, list, FLAG, "list", .letter = 'l',
                .help = "list the trusted files and digests"),
    ORCH_OPTION(struct trust_options, remove, FLAG, "remove",
                .help = "remove these files or digests from the list"),
    {0}};

/* Returns whether the file still has the content that was trusted. */
static const char *state_of(const struct orch_trusted *entry)
{
    char sha256[ORCH_SHA256_CHARS];
    if (access(entry->path, F_OK) != 0)
        return "no such file";
    if (!orch_file_sha256(entry->path, sha256, NULL, NULL))
        return "cannot be read";
    return strcmp(sha256, entry->sha256) == 0 ? "as trusted" : "changed since";
}

static int show_list(struct orch_cli *cli, GError **error)
{
    g_autoptr(GPtrArray) entries = orch_trust_list(error);
    if (!entries)
        return -1;
    static const char *const headers[] = {"file", "sha256", "added", "state", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < entries->len; i++) {
        const struct orch_trusted *entry = entries->pdata[i];
        g_autofree char *ago = orch_ago_format(entry->when_ns);
        g_autofree char *digest = g_strndup(entry->sha256, 12);
        orch_table_add(table, entry->path, NULL);
        orch_table_add(table, digest, json_string(entry->sha256));
        orch_table_add(table, ago, json_integer(entry->when_ns));
        orch_table_add(table, state_of(entry), NULL);
    }
    orch_cli_table_print(cli, table, "plugins");
    return ORCH_EXIT_OK;
}

/* Removes one entry, named by its digest or by a file, which is looked up by its real path. */
static bool remove_one(const char *word, GError **error)
{
    g_autofree char *absolute = orch_path_absolute(word, NULL);
    char *real = realpath(absolute, NULL);
    int count = orch_trust_remove(real ? real : absolute, error);
    free(real);
    if (count == 0)
        count = orch_trust_remove(word, error);
    if (count == 0)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch plugin trust --list' shows them",
                       "'%s' is not a trusted plugin", word);
    return count > 0;
}

/* Returns the real path of a file, or of a plugin on the search path. Its code is not run. */
static char *find_file(struct orch_cli *cli, const char *word, GError **error)
{
    g_autofree char *here = g_get_current_dir();
    g_autofree char *path = orch_path_absolute(word, NULL);
    char *found = strchr(word, '/') || access(path, F_OK) == 0 ? realpath(path, NULL) : NULL;
    if (found) {
        char *copy = g_strdup(found);
        free(found);
        return copy;
    }
    if (!strchr(word, '/'))
        return orch_plugins_locate(orch_cli_plugins(cli), word, here, error);
    orch_error_set(error, ORCH_ERROR_IO, NULL, "there is no file '%s'", path);
    return NULL;
}

static bool trust_one(struct orch_cli *cli, const char *word, json_t *rows, GError **error)
{
    char sha256[ORCH_SHA256_CHARS];
    g_autofree char *path = find_file(cli, word, error);
    if (!path)
        return false;
    if (!g_str_has_suffix(path, ".so")) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "a NAME.plugin needs no trust, because loading it executes no code",
                       "'%s' is not a compiled plugin (NAME.so)", path);
        return false;
    }
    if (!orch_file_sha256(path, sha256, NULL, error) || !orch_trust_add(path, sha256, error))
        return false;
    if (!cli->json)
        orch_cli_print("trusted %s (SHA-256 %s)", path, sha256);
    json_array_append_new(rows, json_pack("{s:s s:s}", "file", path, "sha256", sha256));
    return true;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct trust_options *o = options;
    if (o->list || (!cli->arg_count && !o->remove))
        return show_list(cli, error);
    g_autoptr(json_t) rows = json_array();
    for (int i = 0; i < cli->arg_count; i++)
        if (o->remove ? !remove_one(cli->args[i], error)
                      : !trust_one(cli, cli->args[i], rows, error))
            return -1;
    if (o->remove && !cli->arg_count) {
        orch_error_set(error, ORCH_ERROR_USAGE, "'orch plugin trust --list' shows both",
                       "'--remove' needs the file or the digest of a plugin");
        return -1;
    }
    if (o->remove)
        return show_list(cli, error);
    if (cli->json)
        orch_cli_print_json(json_pack("{s:O}", "trusted", rows));
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_PLUGIN_TRUST = {
    .name = "plugin trust",
    .group = "Plugins",
    .summary = "trust compiled plugins from elsewhere; show and edit the list",
    .usage = "[FILE|DIGEST...]",
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct trust_options),
    .about = "A compiled plugin (NAME.so) can do anything that you can. A plugin that did not come "
             "with orch is loaded only if you trust it, by this command or by 'orch run', which "
             "asks. Trust is recorded by the SHA-256 of the file, so a rebuilt plugin must be "
             "trusted again. Your list is in ~/.local/state/orch.",
    .examples = "  orch plugin trust ./mine.so             # this file may be loaded from now on\n"
                "  orch plugin trust --list\n"
                "  orch plugin trust --remove ./mine.so",
    .run = run,
};
