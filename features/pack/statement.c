/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/statement.h"

#include "features/pack/sources.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/vcs/identity.h"

#include <string.h>

#define PAYLOAD_TYPE "application/vnd.in-toto+json"
#define STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define PREDICATE_TYPE "https://slsa.dev/provenance/v1"

/* DSSE's pre-authentication encoding of a text, which is what is signed. The caller frees. */
static char *encoding_of(const char *type, const char *payload)
{
    return g_strdup_printf("DSSEv1 %zu %s %zu %s", strlen(type), type, strlen(payload), payload);
}

/* ---- making -----------------------------------------------------------------------------------
 */

static json_t *subjects_json(const GPtrArray *files)
{
    json_t *out = json_array();
    for (guint i = 0; i < files->len; i++) {
        const struct orch_pack_file *file = files->pdata[i];
        char sha256[ORCH_SHA256_CHARS];
        orch_sha256(file->bytes, file->length, sha256);
        json_array_append_new(
            out, json_pack("{s:s s:{s:s}}", "name", file->path, "digest", "sha256", sha256));
    }
    return out;
}

/* The source as resolved dependencies, by SWHIDs. */
static json_t *sources_json(const struct orch_statement_of *of)
{
    const struct {
        const char *type, *id, *digest;
    } rows[] = {{"dir", of->tree, "gitTree"}, {"rev", of->commit, "gitCommit"}};
    json_t *out = json_array();
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (!rows[i].id || strlen(rows[i].id) != 40)
            continue;
        g_autofree char *uri = g_strdup_printf("swh:1:%s:%s", rows[i].type, rows[i].id);
        json_array_append_new(
            out, json_pack("{s:s s:{s:s}}", "uri", uri, "digest", rows[i].digest, rows[i].id));
    }
    return out;
}

static json_t *statement_json(const struct orch_statement_of *of)
{
    g_autofree char *builder = g_strconcat("urn:orch:", of->version, NULL);
    return json_pack("{s:s s:o s:s s:{s:{s:s s:{s:s} s:o} s:{s:{s:s} s:{s:s}}}}", "_type",
                     STATEMENT_TYPE, "subject", subjects_json(of->files), "predicateType",
                     PREDICATE_TYPE, "predicate", "buildDefinition", "buildType", "urn:orch:pack:1",
                     "externalParameters", "recipe", of->recipe, "resolvedDependencies",
                     sources_json(of), "runDetails", "builder", "id", builder, "metadata",
                     "finishedOn", of->made);
}

char *orch_statement_sign(const struct orch_statement_of *of, const char *dir, GError **error)
{
    g_autoptr(json_t) statement = statement_json(of);
    g_autofree char *payload = orch_json_canonical(statement);
    g_autofree char *text = encoding_of(PAYLOAD_TYPE, payload);
    g_autofree char *signature = orch_vcs_sign(dir, text, error);
    if (!signature)
        return NULL;
    g_autofree char *payload64 = g_base64_encode((const guchar *)payload, strlen(payload));
    g_autofree char *signature64 = g_base64_encode((const guchar *)signature, strlen(signature));
    g_autoptr(json_t) envelope =
        json_pack("{s:s s:s s:[{s:s s:s}]}", "payloadType", PAYLOAD_TYPE, "payload", payload64,
                  "signatures", "keyid", "", "sig", signature64);
    return orch_json_canonical(envelope);
}

/* ---- judging ----------------------------------------------------------------------------------
 */

static void complain(struct orch_pack *pack, const char *what)
{
    g_ptr_array_add(pack->problems, g_strdup_printf("%s: %s", ORCH_STATEMENT_FILE, what));
}

/* The bytes of a member in base64 as text. NULL: none. The caller frees. */
static char *decoded(const json_t *json, const char *member)
{
    gsize length = 0;
    g_autofree guchar *bytes = g_base64_decode(orch_json_text(json, member, ""), &length);
    return length ? g_strndup((const char *)bytes, length) : NULL;
}

/* Whether each file that the statement names is in the pack with that digest, and pack.json, which
 * lists all others, is among them. */
static bool subjects_fit(const struct orch_pack *pack, const char *payload)
{
    g_autoptr(json_t) statement = orch_json_parse(payload, strlen(payload), (size_t)64 << 20, NULL);
    const json_t *subjects = json_object_get(statement, "subject");
    bool has_list = false, fits = true;
    for (size_t i = 0; fits && i < json_array_size(subjects); i++) {
        const json_t *subject = json_array_get(subjects, i);
        const char *name = orch_json_text(subject, "name", "");
        const char *there = g_hash_table_lookup(pack->files, name);
        fits =
            g_strcmp0(there, orch_json_text(json_object_get(subject, "digest"), "sha256", "")) == 0;
        has_list = has_list || strcmp(name, "pack.json") == 0;
    }
    return fits && has_list;
}

char *orch_statement_judge(struct orch_pack *pack)
{
    if (!pack->statement)
        return NULL;
    g_autoptr(json_t) envelope =
        orch_json_parse(pack->statement, strlen(pack->statement), (size_t)64 << 20, NULL);
    const json_t *signatures = json_object_get(envelope, "signatures");
    g_autofree char *payload = decoded(envelope, "payload");
    g_autofree char *signature = decoded(json_array_get(signatures, 0), "sig");
    g_autofree char *signer = NULL;
    g_autoptr(GError) error = NULL;
    enum orch_signature what = ORCH_SIGNATURE_BAD;
    if (!payload || !signature ||
        strcmp(orch_json_text(envelope, "payloadType", ""), PAYLOAD_TYPE) != 0) {
        complain(pack, "the signature file is not a signed in-toto statement");
        return NULL;
    }
    g_autofree char *text = encoding_of(PAYLOAD_TYPE, payload);
    if (!orch_vcs_verify(NULL, text, signature, &what, &signer, &error))
        return g_strdup_printf("the pack could not be checked: %s", error->message);
    if (what == ORCH_SIGNATURE_BAD)
        complain(pack, "the signature does not match");
    else if (!subjects_fit(pack, payload))
        complain(pack, "the signature is for other files than those of the pack");
    else
        return what == ORCH_SIGNATURE_GOOD
                   ? g_strdup_printf("the pack by %s", signer)
                   : g_strdup_printf("the pack by an unknown key (%s)", signer);
    return NULL;
}
