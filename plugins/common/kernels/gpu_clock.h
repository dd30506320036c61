/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clocks of one GPU, read through NVML, a library of NVIDIA's driver that is opened at run
 * time. */
#ifndef ORCH_PLUGINS_COMMON_KERNELS_GPU_CLOCK_H
#define ORCH_PLUGINS_COMMON_KERNELS_GPU_CLOCK_H

struct orch_gpu_clock;

/** Opens the GPU with this PCI bus id ("0000:3b:00.0", as cudaDeviceGetPCIBusId gives it: NVML
 * numbers all GPUs of the machine, CUDA those that a process may use). NULL without NVML or such a
 * device. The caller closes it. */
struct orch_gpu_clock *orch_gpu_clock_open(const char *pci_bus_id);
void orch_gpu_clock_close(struct orch_gpu_clock *clock);
/** Present clock of the multiprocessors, and of the memory, in MHz; 0 where unknown or `clock` is
 * NULL. */
double orch_gpu_clock_sm_mhz(const struct orch_gpu_clock *clock);
double orch_gpu_clock_memory_mhz(const struct orch_gpu_clock *clock);

#endif
