/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/parse_parts.h"
#include "core/recipe/auto_repeat.h"

#include "lib/base/text.h"

const char *const ORCH_RECIPE_SHARE_WORDS[] = {"none", "source", NULL};

/* Keys that users know from other tools. */
static const struct {
    const char *key, *hint;
} FOREIGN[] = {
    {"params", "parameters go under 'with:'"},
    {"parameters", "parameters go under 'with:'"},
    {"grid", "lists of values go under 'sweep:'"},
    {"matrix", "lists of values go under 'sweep:'"},
    {"seeds", "write 'repeat: 5'; the seeds follow from the recipe's 'seed:'"},
    {"needs", "a reference such as \"${pretrain.weights}\" implies it"},
    {"depends", "a reference such as \"${pretrain.weights}\" implies it"},
    {"command", "write 'program: ./mine.py'"},
    {"script", "write 'program: ./mine.py'"},
    {"include", "write shared values once under 'with:' of the recipe or of a profile"},
    {"extends", "write shared values once under 'with:' of the recipe or of a profile"},
};

void orch_recipe_check_keys(struct recipe_draft *draft, const struct orch_yaml *map,
                            const char *where, const struct orch_yaml_key *known)
{
    unsigned before = draft->diags->items->len;
    orch_yaml_check_table(map, draft->path, where, known, draft->diags);
    for (guint i = before; i < draft->diags->items->len; i++) {
        struct orch_diag *diag = draft->diags->items->pdata[i];
        for (unsigned j = 0; j < G_N_ELEMENTS(FOREIGN); j++) {
            g_autofree char *quoted = g_strdup_printf("unknown key '%s'", FOREIGN[j].key);
            if (!g_str_has_prefix(diag->what, quoted))
                continue;
            g_free(diag->hint);
            diag->hint = g_strdup(FOREIGN[j].hint);
        }
    }
}

bool orch_recipe_check_name(struct recipe_draft *draft, const struct orch_yaml *key,
                            const char *kind)
{
    if (!orch_name_is_valid(key->text, true)) {
        orch_recipe_error_at(draft, key, "use lower-case letters, digits, '_' and '-'",
                             "'%s' cannot be the name of %s", key->text, kind);
        return false;
    }
    return true;
}

void orch_recipe_read_settings(struct recipe_draft *draft, const struct orch_yaml *map,
                               const char *key, GArray *out)
{
    const struct orch_yaml *block = orch_recipe_get_map(draft, map, key);
    if (block && block->keys->len > RECIPE_SETTINGS_MAX) {
        orch_recipe_error_at(draft, block, NULL, "'%s' has %u entries, at most %d are allowed", key,
                             block->keys->len, RECIPE_SETTINGS_MAX);
        return;
    }
    for (guint i = 0; block && i < block->keys->len; i++) {
        struct recipe_setting setting = {orch_recipe_key_at(block, i)->text, draft->path,
                                         orch_recipe_key_at(block, i),
                                         orch_recipe_value_at(block, i)};
        g_array_append_val(out, setting);
    }
}

/* Checks that one level sets a parameter only once. */
static void check_once(struct recipe_draft *draft, const GArray *settings, const GArray *others,
                       const char *this_key, const char *other_key)
{
    for (guint i = 0; i < settings->len; i++) {
        const struct recipe_setting *setting = &g_array_index(settings, struct recipe_setting, i);
        const struct recipe_setting *other = orch_recipe_setting_find(others, setting->name);
        if (other)
            orch_recipe_error(draft, orch_recipe_key_place(setting), "remove one of the two lines",
                              "'%s' is set under '%s' and again under '%s' (line %d, column %d)",
                              setting->name, this_key, other_key, other->key->line,
                              other->key->column);
    }
}

static void read_block(struct recipe_draft *draft, const struct orch_yaml *map,
                       struct recipe_block *block)
{
    orch_recipe_read_settings(draft, map, "with", block->with);
    orch_recipe_read_settings(draft, map, "sweep", block->sweep);
    orch_recipe_read_settings(draft, map, "zip", block->zip);
    orch_recipe_read_settings(draft, map, "search", block->search);
    check_once(draft, block->sweep, block->with, "sweep", "with");
    check_once(draft, block->zip, block->with, "zip", "with");
    check_once(draft, block->zip, block->sweep, "zip", "sweep");
    check_once(draft, block->search, block->with, "search", "with");
    check_once(draft, block->search, block->sweep, "search", "sweep");
    check_once(draft, block->search, block->zip, "search", "zip");
}

void orch_recipe_read_part(struct recipe_draft *draft, const struct orch_yaml *map,
                           struct recipe_part *part)
{
    orch_recipe_block_init(&part->block);
    part->timeout_s = -1;
    read_block(draft, map, &part->block);
    orch_recipe_read_repeat(draft, map, part);
    double timeout_s;
    if (orch_recipe_get_duration(draft, map, "timeout", &timeout_s))
        part->timeout_s = timeout_s;
}

void orch_recipe_read_jobs(struct recipe_draft *draft, const struct orch_yaml *map, unsigned *out)
{
    int64_t count;
    if (orch_recipe_get_count(draft, map, "jobs", "1", "1024", &count))
        *out = (unsigned)count;
}

void orch_recipe_read_share(struct recipe_draft *draft, const struct orch_yaml *map, bool *out)
{
    unsigned word;
    if (orch_recipe_get_choice(draft, map, "share", ORCH_RECIPE_SHARE_WORDS, &word))
        *out = word == 1;
}
