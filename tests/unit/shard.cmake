# a shard of a parameter server's weights, and its optimizers
orch_test(weight_shard "quick" orch_shard)
