/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Git objects are created in memory and written by `git` itself, with its rules for permissions and
 * durability: as one pack, or as loose objects when they are few, so that small exchanges leave no
 * packs behind. Rejected: loose objects through libgit2 (a thousand runs took seconds), and
 * libgit2's pack writer (it walks whole trees, and needs the path of a repository that it
 * supports). */
#include "features/share/remotes/results_private.h"

#include "lib/base/error.h"

#include <git2/sys/mempack.h>
#include <string.h>

#define LOOSE_MOST 100                         /* like git's transfer.unpackLimit */
#define WAITING_BYTES_MOST ((size_t)128 << 20) /* more are flushed */

void orch_results_waits(struct results_place *place, const git_oid *oid, size_t bytes)
{
    g_array_append_val(place->waiting, *oid);
    place->waiting_bytes += bytes;
}

bool orch_results_blob(struct results_place *place, const void *bytes, size_t length, git_oid *out,
                       GError **error)
{
    if (git_odb_write(out, place->odb, bytes, length, GIT_OBJECT_BLOB) != 0)
        return orch_results_fail(error, "write a results object");
    orch_results_waits(place, out, length);
    return true;
}

bool orch_results_blob_size(struct results_place *place, const git_oid *oid, int64_t *out)
{
    size_t length;
    git_object_t type;
    if (git_odb_read_header(&length, &type, place->odb, oid) != 0 || type != GIT_OBJECT_BLOB)
        return false;
    *out = (int64_t)length;
    return true;
}

/* The committer that git is configured with; a generic name when there is none. */
static git_signature *committer(struct results_place *place)
{
    static const char *const args[] = {"var", "GIT_COMMITTER_IDENT", NULL};
    struct orch_git_run run = {.dir = place->dir, .args = args};
    git_signature *who = NULL;
    GString *text = NULL;
    if (orch_git_run(&run, &text, NULL, NULL)) {
        git_signature_from_buffer(&who, g_strchomp(text->str));
        g_string_free(text, TRUE);
    }
    if (!who)
        git_signature_now(&who, "orch", "orch@localhost");
    return who;
}

bool orch_results_commit(struct results_place *place, const git_oid *tree, const git_oid *parents,
                         size_t parent_count, const char *message, git_oid *out, GError **error)
{
    GString *text = g_string_new(NULL);
    char id[GIT_OID_HEXSZ + 1];
    git_signature *who = committer(place);
    g_string_append_printf(text, "tree %s\n", git_oid_tostr(id, sizeof id, tree));
    for (size_t i = 0; i < parent_count; i++)
        if (!git_oid_is_zero(&parents[i]))
            g_string_append_printf(text, "parent %s\n", git_oid_tostr(id, sizeof id, &parents[i]));
    int offset = who ? who->when.offset : 0;
    g_autofree char *ident =
        g_strdup_printf("%s <%s> %lld %c%02d%02d", who ? who->name : "orch",
                        who ? who->email : "orch@localhost", who ? (long long)who->when.time : 0,
                        offset < 0 ? '-' : '+', ABS(offset) / 60, ABS(offset) % 60);
    g_string_append_printf(text, "author %s\ncommitter %s\n\n%s\n", ident, ident, message);
    git_signature_free(who);
    bool ok = git_odb_write(out, place->odb, text->str, text->len, GIT_OBJECT_COMMIT) == 0;
    if (ok)
        orch_results_waits(place, out, text->len);
    g_string_free(text, TRUE);
    return ok || orch_results_fail(error, "write a results commit");
}

/* Packs all objects in memory. */
static bool pack(struct results_place *place, git_buf *out, GError **error)
{
    git_packbuilder *builder = NULL;
    bool ok = git_packbuilder_new(&builder, place->repository) == 0;
    for (guint i = 0; ok && i < place->waiting->len; i++)
        ok = git_packbuilder_insert(builder, &g_array_index(place->waiting, git_oid, i), NULL) == 0;
    ok = ok && git_packbuilder_write_buf(out, builder) == 0;
    git_packbuilder_free(builder);
    return ok || orch_results_fail(error, "pack results objects");
}

bool orch_results_flush(struct results_place *place, GError **error)
{
    static const char *const loose[] = {"unpack-objects", "-q", NULL};
    static const char *const packed[] = {"index-pack", "--stdin", NULL};
    git_buf buffer = GIT_BUF_INIT;
    if (!place->waiting->len)
        return true;
    bool ok = pack(place, &buffer, error);
    if (ok) {
        GString input = {.str = buffer.ptr, .len = buffer.size, .allocated_len = buffer.size};
        struct orch_git_run run = {.dir = place->dir,
                                   .args = place->waiting->len <= LOOSE_MOST ? loose : packed,
                                   .input = &input};
        ok = orch_git_run(&run, NULL, NULL, error);
    }
    git_buf_dispose(&buffer);
    if (!ok)
        return false;
    git_mempack_reset(place->memory);
    g_array_set_size(place->waiting, 0);
    place->waiting_bytes = 0;
    return true;
}

bool orch_results_flush_some(struct results_place *place, GError **error)
{
    return place->waiting_bytes < WAITING_BYTES_MOST || orch_results_flush(place, error);
}
