# the replay buffer: its tree of sums, sampling, returns, threads, snapshots
orch_test(sum_tree "quick" orch_replay PkgConfig::GSL)
orch_test(replay "quick" orch_replay PkgConfig::GSL)
orch_test(replay_threads "quick" orch_replay)
