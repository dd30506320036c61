/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `orch doctor` says of programs that run ONNX files. */
#ifndef ORCH_FEATURES_ONNX_ENGINES_FOUND_H
#define ORCH_FEATURES_ONNX_ENGINES_FOUND_H

struct orch_findings;
struct orch_workspace;

/** Adds a row for each engine: where it is, or what installs it. */
void orch_engines_found(struct orch_workspace *workspace, struct orch_findings *findings);

#endif
