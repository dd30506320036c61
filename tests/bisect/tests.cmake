# take three seconds or more each
set_tests_properties(cli.0570-bisect-limits cli.0571-bisect-built PROPERTIES LABELS "slow")
