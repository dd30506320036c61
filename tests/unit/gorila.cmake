# GORILA: the rules of stability, the parameter server, the memory of learners, and a learner as a process
orch_test(gorila "quick" orch_gorila)
add_dependencies(test_gorila orch-replay-learner orch-replay-actor)
