/* SPDX-License-Identifier: MIT */
/* Was a run's timing disturbed by other work on its machine? orch-host records the share of CPU
 * time that others used as a fact of the run, which travels with the run to other people's stores;
 * comparisons of times and forecasts ask here whether the run counts. */
#ifndef ORCH_WIRE_DISTURBED_H
#define ORCH_WIRE_DISTURBED_H

#include <stdbool.h>

/** Name of the fact: the share (0 to 1) of the CPUs that the trial could use which other processes
 * used while it ran. Absent when it was not measured (trials under a second, older versions). */
#define ORCH_FACT_FOREIGN_CPU "foreign_cpu"

/** A run is disturbed when others used more than this. */
#define ORCH_FOREIGN_CPU_MAX 0.10

/** Reads the share from a run's facts (JSON text, may be NULL or malformed); NaN when it is not
 * known. */
double orch_facts_foreign_cpu(const char *facts);

/** True when the share is known and above ORCH_FOREIGN_CPU_MAX. */
bool orch_facts_are_disturbed(const char *facts);

#endif
