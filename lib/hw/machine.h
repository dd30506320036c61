/* SPDX-License-Identifier: MIT */
/* The current machine: its properties (for keys and records) and its load. GPUs are found through
 * NVML, loaded at run time; without NVML there are none. */
#ifndef ORCH_HW_MACHINE_H
#define ORCH_HW_MACHINE_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A GPU, or a MIG instance of one. */
struct orch_gpu_device {
    unsigned index; /* in NVML's order; of an instance: the GPU's that it is part of */
    bool is_mig;
    char *model;   /* "Tesla V100-SXM2-16GB", "NVIDIA A100-SXM4-40GB MIG 1g.5gb" */
    char *uuid;    /* "GPU-...", "MIG-..."; "" where the driver does not tell it */
    char *visible; /* its name in a trial's CUDA_VISIBLE_DEVICES: an index or a UUID, as in the
                      user's; UUIDs for MIG instances */
    int64_t memory_bytes;
    int cc_major, cc_minor; /* compute capability; 0.0: unknown */
    int numa_node;          /* of the PCI slot; -1: unknown */
};

/** A name of the GPU that is the same for every process of this machine: its UUID, or "gpu 0" where
 * the driver does not tell it. Caller frees. */
char *orch_gpu_device_id(const struct orch_gpu_device *gpu);

struct orch_machine {
    char *cpu_model;     /* "Intel(R) Xeon(R) ..." */
    char *arch;          /* x86_64 */
    const char *vectors; /* widest instructions of the processor: "AVX-512 with bf16", "AVX-512",
                            "AVX2", "AVX", "SSE"; on ARM "SVE", "NEON"; NULL: not known */
    int sockets;
    int cores;   /* physical cores available to this process */
    int threads; /* hardware threads available to this process (affinity and cgroup quota) */
    int64_t memory_bytes; /* of the machine, or of its cgroup if that is less */
    char *os;             /* "Debian GNU/Linux 12" */
    char *kernel;
    char *hostname;
    char *gpu_driver;       /* NULL without GPUs */
    char *cuda_version;     /* newest version that the driver supports, "12.4"; NULL: unknown */
    char *gpu_note;         /* why there are no GPUs, or fewer: "no NVML library", "no device",
                               "CUDA_VISIBLE_DEVICES='' hides 2 GPUs", or an error */
    GPtrArray *gpus;        /* struct orch_gpu_device *: those that CUDA_VISIBLE_DEVICES leaves */
    GPtrArray *hidden_gpus; /* struct orch_gpu_device *: the others */
};

/** Whether this processor has instructions that multiply bf16 (AVX512-BF16, AMX-BF16, or ARM's
 * BF16): without them bf16 is emulated, and slower than fp32. */
bool orch_cpu_computes_bf16(void);

/** Describes this machine. Its GPUs are those that the environment's CUDA_VISIBLE_DEVICES leaves,
 * in its order. */
struct orch_machine *orch_machine_probe(void);
void orch_machine_free(struct orch_machine *machine);

/** Bytes of memory of the machine whose /proc and /sys are below `root` ("" for this one), or of
 * this process's cgroup if that is less; 0: unknown. */
int64_t orch_machine_memory(const char *root);

/** SHA-256 (first 32 hex digits) of the properties on which the comparability of results depends:
 * architecture, CPU model, cores, threads, memory rounded to GiB, GPU models, memory and count, OS
 * family. Excludes clocks, host name, driver and kernel. Caller frees. */
char *orch_machine_key(const struct orch_machine *machine);

/** All facts as an object. New reference. */
json_t *orch_machine_facts(const struct orch_machine *machine);

/** Device key, the hardware that a timing depends on: "2x Tesla V100-SXM2-16GB" for the GPUs of a
 * trial (indices into `gpus`), "0.5x Tesla V100-SXM2-16GB" for a share of one, else "CPU MODEL,
 * 4 threads" for the threads of its slot. `gpu_share`: of each GPU, 1 for whole ones. Caller frees.
 */
char *orch_machine_device_key(const struct orch_machine *machine, const unsigned *gpus,
                              unsigned gpu_count, double gpu_share, int threads);

/** The parts of a device key. */
struct orch_device_parts {
    char *device;  /* "Tesla V100-SXM2-16GB", all of several models, or the CPU model; never NULL */
    unsigned gpus; /* 0: the CPU */
    double gpu_share; /* of its only GPU: below 1 when trials share it */
    int threads;      /* of the CPU; 0: not given */
};
/** Parses a device key (NULL counts as ""). Caller frees `device`. */
struct orch_device_parts orch_device_key_parse(const char *key);

/** True for a share of a GPU: its times depend on the trials beside it. */
bool orch_device_key_is_share(const char *key);
/** True for one or more whole GPUs. */
bool orch_device_key_has_own_gpus(const char *key);

/** One-minute load average; -1 if unknown. */
double orch_machine_load(void);

#endif
