#!/usr/bin/env bash
# The official validators accept a pack's RO-Crate, in-toto statement and DSSE envelope, and ssh-keygen its signature.
# test: slow
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
judge_by rocrate_validator rocrate in_toto_attestation securesystemslib
. "$ORCH_SOURCE_DIR/tests/pack/crate_pack.sh"
version=$("$judge" -c 'import importlib.metadata as m; print(m.version("rocrate"))')
case $version in 0.1[0-3].*) ;; *) skip "rocrate $version has no context of RO-Crate 1.1: pip install rocrate==0.13.0" ;; esac
ok "$judge" "$ORCH_SOURCE_DIR/tests/pack/judge_crate.py" unpacked
has "provenance-run-crate-0.5"
has_not " 0 checks"
ssh-keygen -Y verify -f "$HOME/signers" -I ada@example.org -n orch -s sig <pae || _fail 'the signature does not fit'
