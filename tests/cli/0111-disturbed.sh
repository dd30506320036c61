# A run during which other programs kept the CPUs busy is marked, and times leave it out where they can.
. "$(dirname "$0")/lib.sh"
burn() { for _ in $(seq "$(nproc)"); do timeout 20 sh -c 'while :; do :; done' & burners="$burners $!"; done; }
burners=; burn
# repeat 1 is long enough to be judged, repeat 2 is not; both are of one setting
ok orch try --name nap --repeat 2 -- sh -c 'echo answer 42; [ {repeat} = 2 ] || sleep 1.1'
kill $burners
says 'other programs used over 10 % of the CPUs'
ok orch ls --where repeat=1 --json; long=$(json runs.0.run)
ok orch show "$long"; has 'foreign cpu'; has 'used by other programs: its times count only where'
ok orch show "$long" --json; python3 -c "assert $(json facts.foreign_cpu) > 0.1"
# times leave it out and say so; other metrics count it; --disturbed counts it
ok orch best wall_s --min --json; same "$(json rankings.0.settings.0.n)" 1; says '1 run is left out'; says '--disturbed counts them too'
ok orch best wall_s --min --disturbed --json; same "$(json rankings.0.settings.0.n)" 2; says_not 'left out'
ok orch best answer --max --json; same "$(json rankings.0.settings.0.n)" 2; says_not 'left out'
# where nothing else is there it counts, with a warning
ok orch best wall_s --min -w repeat=1; says 'the times may be too long'
ok orch compare 'repeat=1' 'repeat=2' -m wall_s --across; says 'the times may be too long'
ok orch compare 'repeat>0' 'repeat=2' -m wall_s --json; same "$(json disturbed_left_out)" 1
ok orch try --name nap --json -- sh -c 'echo answer 43'; same "$(json disturbed.trials)" 0
