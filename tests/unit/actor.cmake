# actors of Ape-X: the memory that they share with the learner, their processes, their priorities
orch_test(actor "quick" orch_actor)
add_dependencies(test_actor orch-replay-actor)
