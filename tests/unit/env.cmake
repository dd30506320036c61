# environments of reinforcement learning: their dynamics, the driver, programs that are environments
orch_test(env_parity "quick" orch_env PkgConfig::JANSSON)
orch_test(env "quick" orch_env orch_replay)
orch_test(env_program "slow" orch_env)
