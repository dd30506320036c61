/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/parts.h"

#include "core/feature/feature.h"

#include <string.h>

/* Calls `visit` for each part that a feature adds to a command. */
static void each_part(const struct orch_command *command,
                      void (*visit)(const struct orch_command_part *part, void *ctx), void *ctx)
{
    for (const struct orch_feature *const *f = orch_features(); *f; f++)
        for (const struct orch_command_part *const *p = (*f)->parts; p && *p; p++)
            if (strcmp((*p)->command, command->name) == 0)
                visit(*p, ctx);
}

static void add_part(const struct orch_command_part *part, void *ctx)
{
    struct orch_cli_part added = {part, g_malloc0(part->option_bytes + 1)};
    g_array_append_val((GArray *)ctx, added);
}

GArray *orch_parts_new(const struct orch_command *command)
{
    GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct orch_cli_part));
    each_part(command, add_part, parts);
    return parts;
}

void orch_options_free_lists(const struct orch_option *table, void *options)
{
    for (; table && table->name; table++)
        if (table->kind == ORCH_OPT_LIST)
            g_free(*(void **)(void *)((char *)options + table->offset));
}

void orch_parts_free(GArray *parts)
{
    for (guint i = 0; i < parts->len; i++) {
        const struct orch_cli_part *p = &g_array_index(parts, struct orch_cli_part, i);
        if (p->part->clear)
            p->part->clear(p->options);
        orch_options_free_lists(p->part->options, p->options);
        g_free(p->options);
    }
    g_array_unref(parts);
}

/* ---- the running command -----------------------------------------------------------------------
 */

static bool is_asked(const struct orch_cli_part *p)
{
    return !p->part->is_asked || p->part->is_asked(p->options);
}

static bool is_alone(const struct orch_command_part *part)
{
    return part->is_alone;
}

static bool only_reads(const struct orch_command_part *part)
{
    return part->reads_only;
}

/* Whether a part of the running command is asked for that is of a kind. */
static bool has_part(const struct orch_cli *cli, bool (*is_of)(const struct orch_command_part *))
{
    for (guint i = 0; i < cli->parts->len; i++) {
        const struct orch_cli_part *p = &g_array_index(cli->parts, struct orch_cli_part, i);
        if (is_of(p->part) && is_asked(p))
            return true;
    }
    return false;
}

bool orch_cli_has_part_alone(const struct orch_cli *cli)
{
    return has_part(cli, is_alone);
}

bool orch_cli_has_part_that_reads(const struct orch_cli *cli)
{
    return has_part(cli, only_reads);
}

bool orch_cli_parts_look(struct orch_cli *cli, const struct orch_subject *subject, GError **error)
{
    bool ok = true;
    for (guint i = 0; ok && i < cli->parts->len; i++) {
        const struct orch_cli_part *p = &g_array_index(cli->parts, struct orch_cli_part, i);
        if (p->part->look && is_asked(p))
            ok = p->part->look(cli, p->options, subject, error);
    }
    return ok;
}

bool orch_cli_parts_show(struct orch_cli *cli, const struct orch_subject *subject, json_t *json,
                         GError **error)
{
    bool ok = true;
    for (guint i = 0; ok && i < cli->parts->len; i++) {
        const struct orch_cli_part *p = &g_array_index(cli->parts, struct orch_cli_part, i);
        if (p->part->show && is_asked(p))
            ok = p->part->show(cli, p->options, subject, json, error);
    }
    return ok;
}

bool orch_cli_part_alone_show(struct orch_cli *cli, const struct orch_subject *subject,
                              GError **error)
{
    return orch_cli_parts_look(cli, subject, error) &&
           orch_cli_parts_show(cli, subject, NULL, error);
}

/* ---- options and help --------------------------------------------------------------------------
 */

static void add_options(const struct orch_command_part *part, void *ctx)
{
    for (const struct orch_option *option = part->options; option && option->name; option++) {
        struct orch_option copy = *option;
        copy.group = part->heading;
        g_array_append_val((GArray *)ctx, copy);
    }
}

/* Sets the heading of a command's own option in its help, and whether it is rare. */
static void set_group(const struct orch_command *command, struct orch_option *option)
{
    g_autofree char *rare = g_strconcat("-", option->name, NULL);
    for (const struct orch_option_group *g = command->groups; g && g->heading; g++) {
        g_auto(GStrv) names = g_strsplit(g->names, " ", -1);
        bool is_rare = g_strv_contains((const char *const *)names, rare);
        if (!is_rare && !g_strv_contains((const char *const *)names, option->name))
            continue;
        option->group = g->heading;
        option->is_rare = is_rare;
    }
}

struct orch_option *orch_command_options(const struct orch_command *command)
{
    GArray *options = g_array_new(TRUE, FALSE, sizeof(struct orch_option));
    for (const struct orch_option *option = command->options; option && option->name; option++) {
        struct orch_option copy = *option;
        set_group(command, &copy);
        g_array_append_val(options, copy);
    }
    each_part(command, add_options, options);
    return (struct orch_option *)(void *)g_array_free(options, FALSE);
}

static void add_about(const struct orch_command_part *part, void *ctx)
{
    g_string_append(ctx, part->about ? part->about : "");
}

char *orch_command_about(const struct orch_command *command)
{
    GString *text = g_string_new(command->about);
    each_part(command, add_about, text);
    return g_string_free(text, !text->len);
}

static void add_examples(const struct orch_command_part *part, void *ctx)
{
    if (part->examples)
        g_string_append_printf(ctx, "%s%s", ((GString *)ctx)->len ? "\n" : "", part->examples);
}

char *orch_command_examples(const struct orch_command *command)
{
    GString *text = g_string_new(command->examples);
    each_part(command, add_examples, text);
    return g_string_free(text, !text->len);
}
