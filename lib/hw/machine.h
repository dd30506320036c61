/* SPDX-License-Identifier: MIT */
/* The machine that runs this: what it is (for keys and records) and how busy it is. GPUs are found
 * through NVML, opened at run time; a machine without it simply has none. */
#ifndef ORCH_HW_MACHINE_H
#define ORCH_HW_MACHINE_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_gpu_device {
    unsigned index; /* NVML's order */
    char *model;    /* "Tesla V100-SXM2-16GB" */
    char *uuid;
    int64_t memory_bytes;
    int cc_major, cc_minor; /* compute capability; 0.0: unknown */
};

struct orch_machine {
    char *cpu_model; /* "Intel(R) Xeon(R) ..." */
    char *arch;      /* x86_64 */
    int sockets;
    int cores;   /* physical cores that this process may use */
    int threads; /* hardware threads that this process may use (affinity and cgroup quota) */
    int64_t memory_bytes; /* of the machine, or of its cgroup where that is less */
    char *os;             /* "Debian GNU/Linux 12" */
    char *kernel;
    char *hostname;
    char *gpu_driver;   /* NULL without GPU */
    char *cuda_version; /* the newest that the driver can run, "12.4"; NULL: unknown */
    char *gpu_note;     /* why there are no GPUs: "no NVML library", "no device", or the error */
    GPtrArray *gpus;    /* struct orch_gpu_device * */
};

struct orch_machine *orch_machine_probe(void);
void orch_machine_free(struct orch_machine *machine);

/** SHA-256 (hex, first 32 digits) over what makes results comparable: architecture, CPU model,
 * cores, threads, memory rounded to GiB, GPU models, memory and count, OS family. Not clocks, host
 * name, driver, kernel. The caller frees. */
char *orch_machine_key(const struct orch_machine *machine);

/** All facts as an object. New reference. */
json_t *orch_machine_facts(const struct orch_machine *machine);

/** What a timing depends on: "2x Tesla V100-SXM2-16GB" for the GPUs that a trial uses (indices into
 * `gpus`), else "CPU MODEL, 4 threads" for the threads of its slot. The caller frees. */
char *orch_machine_where(const struct orch_machine *machine, const unsigned *gpus,
                         unsigned gpu_count, int threads);

/** What such a text says. */
struct orch_where_place {
    char *device; /* "Tesla V100-SXM2-16GB", of several kinds all; the processor's model; never NULL
                   */
    unsigned gpus; /* 0: the processor */
    int threads;   /* of a processor; 0: not said */
};
/** Reads one ("" for NULL). The caller frees `device`. */
struct orch_where_place orch_where_read(const char *where);

/** One-minute load average; -1 when unknown. */
double orch_machine_load(void);

#endif
