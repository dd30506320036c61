/* SPDX-License-Identifier: MIT */
/* `orch-host --rank`: one process of an MPI trial. Its environment names the trial's folder, the
 * host's socket and the start of the trial (monotonic ns). */
#ifndef ORCH_HOST_RANK_PROCESS_H
#define ORCH_HOST_RANK_PROCESS_H

#define ORCH_RANK_OPTION "--rank"
#define ORCH_RANK_TRIAL "ORCH_RANK_TRIAL"
#define ORCH_RANK_LINK "ORCH_RANK_LINK"
#define ORCH_RANK_START "ORCH_RANK_START_NS"

/** Runs the plugin in a child process and reports how it ended. Returns an exit status. `argc` and
 * `argv` are this program's own. */
int orch_rank_main(int argc, char **argv);

#endif
