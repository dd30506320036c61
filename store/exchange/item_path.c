/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paths of items: parsed strictly, and always rewritten from the parsed name. */
#include "store/exchange/bundle_items.h"

#include "lib/base/file.h"
#include "lib/base/ident.h"

#include <stdio.h>
#include <string.h>

enum { DIGEST_CHARS = 16 };

static bool is_hex(const char *text, size_t length)
{
    return strspn(text, "0123456789abcdef") >= length;
}

static bool parse_run(const char *rest, struct orch_item_name *out)
{
    if (strlen(rest) != 36 + 1 + DIGEST_CHARS || rest[36] != '-' ||
        !is_hex(rest + 37, DIGEST_CHARS))
        return false;
    g_strlcpy(out->key, rest, 37);
    g_strlcpy(out->digest, rest + 37, sizeof out->digest);
    return orch_key_is_valid(out->key);
}

static bool parse_key(const char *rest, struct orch_item_name *out)
{
    g_strlcpy(out->key, rest, sizeof out->key);
    return orch_key_is_valid(rest);
}

static bool parse_sha256(const char *rest, struct orch_item_name *out)
{
    g_strlcpy(out->key, rest, sizeof out->key);
    return orch_sha256_is_valid(rest);
}

static const struct {
    enum orch_item_kind kind;
    const char *folder;
    bool (*parse)(const char *last, struct orch_item_name *out); /* the last part of the path */
    int64_t limit;
} KINDS[] = {
    {ORCH_ITEM_RUN, "runs/", parse_run, ORCH_ITEM_RUN_MAX},
    {ORCH_ITEM_ARTIFACT, "artifacts/", parse_sha256, -1},
    {ORCH_ITEM_RECIPE, "recipes/", parse_sha256, ORCH_ITEM_RECIPE_MAX},
    {ORCH_ITEM_NOTE, "notes/", parse_key, ORCH_ITEM_NOTE_MAX},
    {ORCH_ITEM_DATASET, "datasets/", parse_sha256, ORCH_ITEM_DATASET_MAX},
};

bool orch_item_name_parse(const char *path, struct orch_item_name *out)
{
    char again[ORCH_ITEM_PATH_CHARS];
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++) {
        struct orch_item_name name = {.kind = KINDS[i].kind};
        if (!g_str_has_prefix(path, KINDS[i].folder) || strlen(path) >= sizeof again ||
            !KINDS[i].parse(strrchr(path, '/') + 1, &name))
            continue;
        orch_item_path(&name, again); /* the folders in the path must match the name */
        if (strcmp(again, path) != 0)
            return false;
        *out = name;
        return true;
    }
    return false;
}

void orch_item_path(const struct orch_item_name *name, char out[ORCH_ITEM_PATH_CHARS])
{
    const char *key = name->key;
    switch (name->kind) {
    case ORCH_ITEM_RUN:
        snprintf(out, ORCH_ITEM_PATH_CHARS, "runs/%.5s/%s/%s-%s", key, key + 34, key, name->digest);
        break;
    case ORCH_ITEM_ARTIFACT:
        snprintf(out, ORCH_ITEM_PATH_CHARS, "artifacts/%.2s/%s", key, key);
        break;
    case ORCH_ITEM_RECIPE:
        snprintf(out, ORCH_ITEM_PATH_CHARS, "recipes/%.2s/%s", key, key);
        break;
    case ORCH_ITEM_NOTE:
        snprintf(out, ORCH_ITEM_PATH_CHARS, "notes/%.5s/%s", key, key);
        break;
    case ORCH_ITEM_DATASET:
        snprintf(out, ORCH_ITEM_PATH_CHARS, "datasets/%s", key);
        break;
    }
}

int64_t orch_item_limit(enum orch_item_kind kind)
{
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++)
        if (KINDS[i].kind == kind)
            return KINDS[i].limit;
    return 0;
}
