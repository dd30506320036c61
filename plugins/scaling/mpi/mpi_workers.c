/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/scaling/mpi/mpi_workers.h"

#include "lib/base/error.h"
#include "lib/base/sha256.h"
#include "plugins/common/comm/mpi_setup.h"
#include "plugins/common/torch/torch.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Longest reason that the workers tell each other. */
enum { REASON_BYTES = 1024 };

/* ---- the host of a training --------------------------------------------------------------------
 */

static struct workers *of(const struct orch_host *host)
{
    return (struct workers *)(uintptr_t)host;
}

/* Called by all workers after the same step, when no gradients are on their way. */
static bool agreed_cancelled(const struct orch_host *host)
{
    const struct workers *w = of(host);
    int is = w->real->cancelled(w->real);
    return MPI_Allreduce(MPI_IN_PLACE, &is, 1, MPI_INT, MPI_MAX, w->comm.world) != MPI_SUCCESS ||
           is;
}

static uint64_t seed_of_worker(const struct orch_host *host, const char *stream)
{
    const struct workers *w = of(host);
    if (w->comm.rank == 0 || strcmp(stream, "dropout") != 0)
        return w->real->derive_seed(w->real, stream);
    g_autofree char *own = g_strdup_printf("%s of worker %d", stream, w->comm.rank);
    return w->real->derive_seed(w->real, own);
}

static const char *no_checkpoints(const struct orch_host *host)
{
    (void)host;
    return NULL;
}

static void keep_reason(const struct orch_host *host, const char *text)
{
    struct workers *w = of(host);
    g_free(w->fail_text);
    w->fail_text = g_strdup(text);
    w->real->fail(w->real, text);
}

static void wrap_host(struct workers *w, const struct orch_host *host)
{
    memcpy(&w->host, host, MIN(sizeof w->host, host->struct_bytes));
    w->host.struct_bytes = (uint32_t)MIN(sizeof w->host, host->struct_bytes);
    w->host.cancelled = agreed_cancelled;
    w->host.derive_seed = seed_of_worker;
    w->host.checkpoint_dir = no_checkpoints;
    w->host.fail = keep_reason;
    w->real = host;
}

/* ---- start and end -----------------------------------------------------------------------------
 */

/* All workers write files of the same names. */
static bool enter_own_folder(const struct workers *w, GError **error)
{
    char name[32];
    if (w->comm.rank == 0)
        return true;
    g_snprintf(name, sizeof name, "worker-%d", w->comm.rank);
    if ((mkdir(name, 0777) == 0 || errno == EEXIST) && chdir(name) == 0)
        return true;
    orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot make folder '%s': %s", name,
                   g_strerror(errno));
    return false;
}

static int usable_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                       : (int)g_get_num_processors();
}

int orch_workers_open(struct workers *w, const struct orch_host *host,
                      const struct orch_comm_algorithm *algorithm, int per_node)
{
    GError *error = NULL;
    *w = (struct workers){.slot = {.struct_bytes = sizeof w->slot, .threads = 1, .ranks = 1},
                          .cpus = usable_cpus()};
    wrap_host(w, host);
    if (orch_host_has(host, slot))
        host->slot(host, &w->slot);
    if (orch_mpi_start(algorithm, per_node, &w->comm, &error) && enter_own_folder(w, &error))
        return ORCH_OK;
    host->fail(host, error->message);
    g_error_free(error);
    return ORCH_FAILED;
}

void orch_workers_close(struct workers *w, int status)
{
    if (status == ORCH_OK)
        orch_mpi_end(&w->comm);
    g_clear_pointer(&w->fail_text, g_free);
}

int orch_workers_agree(struct workers *w, int status)
{
    char reason[REASON_BYTES] = "";
    int first = status == ORCH_OK ? w->comm.ranks : w->comm.rank;
    if (MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, w->comm.world) != MPI_SUCCESS)
        return ORCH_FAILED;
    if (first == w->comm.ranks)
        return ORCH_OK;
    if (first == w->comm.rank && w->fail_text)
        g_strlcpy(reason, w->fail_text, sizeof reason);
    if (MPI_Bcast(&status, 1, MPI_INT, first, w->comm.world) != MPI_SUCCESS ||
        MPI_Bcast(reason, REASON_BYTES, MPI_CHAR, first, w->comm.world) != MPI_SUCCESS)
        return ORCH_FAILED;
    w->real->fail(w->real, reason);
    return status;
}

/* ---- models ------------------------------------------------------------------------------------
 */

static bool average_tensor(const struct workers *w, const struct orch_torch *torch,
                           struct orch_torch_model *model, size_t index, int64_t count,
                           GError **error)
{
    g_autofree float *values = g_new(float, count);
    if (!torch->tensor_get(model, index, values, error) ||
        !orch_mpi_ok(orch_comm_reduce(&w->comm, values, (size_t)count, MPI_FLOAT, MPI_SUM),
                     "the sum of the batch norms' statistics", error))
        return false;
    for (int64_t i = 0; i < count; i++)
        values[i] /= (float)w->comm.ranks;
    return torch->tensor_set(model, index, values, error);
}

bool orch_workers_average_norms(const struct workers *w, const struct orch_torch *torch,
                                struct orch_torch_model *model, GError **error)
{
    for (size_t i = 0; w->comm.ranks > 1 && i < torch->tensor_count(model); i++) {
        struct orch_torch_tensor t;
        torch->tensor_describe(model, i, &t);
        if (!t.is_parameter && !average_tensor(w, torch, model, i, t.count, error))
            return false;
    }
    return true;
}

static bool digest_of(const struct orch_torch *torch, const struct orch_torch_model *model,
                      char out[65], GError **error)
{
    struct orch_hash hash;
    bool ok = true;
    orch_hash_begin(&hash);
    for (size_t i = 0; ok && i < torch->tensor_count(model); i++) {
        struct orch_torch_tensor t;
        torch->tensor_describe(model, i, &t);
        g_autofree float *values = g_new(float, t.count);
        ok = torch->tensor_get(model, i, values, error);
        if (ok)
            orch_hash_add(&hash, values, (size_t)t.count * sizeof *values);
    }
    orch_hash_end_text(&hash, out);
    return ok;
}

bool orch_workers_check_weights(const struct workers *w, const struct orch_torch *torch,
                                const struct orch_torch_model *model, char out_digest[65],
                                GError **error)
{
    char first[65];
    if (!digest_of(torch, model, out_digest, error))
        return false;
    memcpy(first, out_digest, sizeof first);
    int differing = w->comm.ranks;
    if (!orch_mpi_ok(MPI_Bcast(first, sizeof first, MPI_CHAR, 0, w->comm.world),
                     "comparing the weights", error))
        return false;
    if (memcmp(first, out_digest, sizeof first) != 0)
        differing = w->comm.rank;
    if (!orch_mpi_ok(MPI_Allreduce(MPI_IN_PLACE, &differing, 1, MPI_INT, MPI_MIN, w->comm.world),
                     "comparing the weights", error))
        return false;
    if (differing == w->comm.ranks)
        return true;
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                   "the weights of worker %d differ from those of worker 0 after training",
                   differing);
    return false;
}
