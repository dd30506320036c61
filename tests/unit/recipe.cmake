# A recipe may contain keys and report items of any feature. The catalogue of plugins in memory takes the place of that in core/plugin.
orch_test(recipe "quick" orch_feature_table)
target_link_options(test_recipe PRIVATE -Wl,--allow-multiple-definition)
