/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command lines of mpirun and srun, and what they put into the environment of a rank. */
#include "core/host/mpi_command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_commands(void **state)
{
    (void)state;
    static const struct {
        struct orch_mpi_launcher launcher;
        unsigned ranks;
        bool is_root;
        const char *expected;
    } rows[] = {
        {{ORCH_MPI_OPEN_MPI, (char *)(uintptr_t) "/usr/bin/mpirun", NULL},
         2,
         false,
         "/usr/bin/mpirun --oversubscribe --bind-to none -n 2 /x/orch-host --rank"},
        {{ORCH_MPI_OPEN_MPI, (char *)(uintptr_t) "/usr/bin/mpirun", "node1"},
         4096,
         true,
         "/usr/bin/mpirun --oversubscribe --bind-to none --allow-run-as-root -n 4096 /x/orch-host "
         "--rank"},
        {{ORCH_MPI_HYDRA, (char *)(uintptr_t) "/opt/mpich/bin/mpirun", NULL},
         1,
         true,
         "/opt/mpich/bin/mpirun -n 1 /x/orch-host --rank"},
        {{ORCH_MPI_SRUN, (char *)(uintptr_t) "/usr/bin/srun", NULL},
         8,
         false,
         "/usr/bin/srun --nodes=1 --overlap --kill-on-bad-exit=1 --cpu-bind=none -n 8 /x/orch-host "
         "--rank"},
        {{ORCH_MPI_SRUN, (char *)(uintptr_t) "/usr/bin/srun", "node1"},
         8,
         true,
         "/usr/bin/srun --nodes=1 --overlap --kill-on-bad-exit=1 --cpu-bind=none --nodelist=node1 "
         "-n 8 /x/orch-host --rank"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(GStrv) words = orch_mpi_command(&rows[i].launcher, rows[i].ranks, rows[i].is_root,
                                               "/x/orch-host", "--rank");
        g_autofree char *line = g_strjoinv(" ", words);
        assert_string_equal(line, rows[i].expected);
    }
}

static void test_versions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum orch_mpi_kind kind;
    } rows[] = {
        {"mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/",
         ORCH_MPI_OPEN_MPI},
        {"mpirun (Open MPI) 5.0.1", ORCH_MPI_OPEN_MPI},
        {"HYDRA build details:\n    Version:                                 4.0.2",
         ORCH_MPI_HYDRA},
        {"Intel(R) MPI Library for Linux* OS, Version 2021.9", ORCH_MPI_HYDRA},
        {"", ORCH_MPI_HYDRA},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        assert_int_equal(orch_mpi_kind_of_version(rows[i].text), rows[i].kind);
}

static void test_ranks(void **state)
{
    (void)state;
    static const struct {
        const char *environment;
        bool is_rank;
        struct orch_rank rank;
    } rows[] = {
        {"OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=0 "
         "OMPI_COMM_WORLD_LOCAL_SIZE=2",
         true,
         {2, 4, 0, 2}},
        {"PMI_RANK=1 PMI_SIZE=3 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=3", true, {1, 3, 1, 3}},
        {"SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_LOCALID=1", true, {5, 8, 1, 8}},
        {"PMI_RANK=1 PMI_SIZE=3", true, {1, 3, 1, 3}},
        /* Open MPI's mpirun inside of an allocation */
        {"SLURM_PROCID=0 SLURM_NTASKS=1 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2",
         true,
         {1, 2, 1, 2}},
        {"", false, {0}},
        {"OMPI_COMM_WORLD_RANK=2", false, {0}},
        {"PMI_RANK=3 PMI_SIZE=3", false, {0}},
        {"PMI_RANK=-1 PMI_SIZE=3", false, {0}},
        {"PMI_RANK=1x PMI_SIZE=3", false, {0}},
        {"PMI_RANK=0 PMI_SIZE=99999999", false, {0}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(GStrv) environment = g_strsplit(rows[i].environment, " ", -1);
        struct orch_rank rank = {0};
        if (orch_rank_read(environment, &rank) != rows[i].is_rank ||
            memcmp(&rank, &rows[i].rank, sizeof rank) != 0)
            fail_msg("%s: rank %u of %u, local %u of %u", rows[i].environment, rank.number,
                     rank.count, rank.local_number, rank.local_count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
