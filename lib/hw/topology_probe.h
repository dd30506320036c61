/* SPDX-License-Identifier: MIT */
/* Internal to lib/hw: the two sources of a topology, for tests. */
#ifndef ORCH_HW_TOPOLOGY_PROBE_H
#define ORCH_HW_TOPOLOGY_PROBE_H

#include "lib/hw/topology.h"

/** Reads /sys below `root` ("" for this machine). CPUs it does not describe are cores of their own
 * on node 0. */
struct orch_topology *orch_topology_from_sys(const char *root, const unsigned *cpus,
                                             unsigned count);
/** Asks hwloc, and so also follows HWLOC_SYNTHETIC and HWLOC_XMLFILE. NULL when the program was
 * built without hwloc, when the library is missing, or when it does not describe all of `cpus`. */
struct orch_topology *orch_topology_from_hwloc(const unsigned *cpus, unsigned count);

/** NUMA node of a PCI device, from /sys below `root`; -1: unknown. */
int orch_pci_node(const char *root, unsigned domain, unsigned bus, unsigned device);

#endif
