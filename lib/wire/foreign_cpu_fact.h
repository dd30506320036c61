/* SPDX-License-Identifier: MIT */
/* Detects runs whose timing was disturbed by other work on the machine. orch-host records the share
 * of CPU time used by other processes as a fact of the run, which is shared with it; comparisons of
 * times and forecasts use it to exclude runs. */
#ifndef ORCH_WIRE_FOREIGN_CPU_FACT_H
#define ORCH_WIRE_FOREIGN_CPU_FACT_H

#include <stdbool.h>

/** Name of the fact: the share (0 to 1) of the CPUs available to the trial that other processes
 * used while it ran. Absent if not measured (trials under a second). */
#define ORCH_FACT_FOREIGN_CPU "foreign_cpu"

/** A run is disturbed if the share is above this. */
#define ORCH_FOREIGN_CPU_MAX 0.10

/** Reads the share from a run's facts (JSON text, may be NULL or malformed); NaN if unknown. */
double orch_facts_foreign_cpu(const char *facts);

/** True if the share is known and above ORCH_FOREIGN_CPU_MAX. */
bool orch_facts_are_disturbed(const char *facts);

#endif
