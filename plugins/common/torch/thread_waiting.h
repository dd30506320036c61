/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the threads of a training step wait for each other. */
#ifndef ORCH_PLUGINS_COMMON_TORCH_THREAD_WAITING_H
#define ORCH_PLUGINS_COMMON_TORCH_THREAD_WAITING_H

/** Before LibTorch is loaded and before this process has a second thread: on a busy machine
 * (`load`, the mean number of threads that want to run, above 1.5 for each of `processors`) threads
 * that wait sleep after some microseconds, by GOMP_SPINCOUNT in this process's environment. What
 * the user has set, there or in OMP_WAIT_POLICY, stays. */
void orch_thread_waiting_choose(double load, long processors);

#endif
