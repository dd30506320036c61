#!/usr/bin/env bash
# Notes, tags and names: which runs they select, which of them are pushed, and which are refused.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"

for lr in 0.1 0.2; do
    echo '{"event":"done","status":"ok"}' | orch record -q -e train -s lr=$lr --tag start ${first:---name base}
    first=-q
done
ok orch ls --json
one=$(json runs.1.key) two=$(json runs.0.key)
same "$(json runs.1.name) $(json runs.1.tags.0)" 'base start'
same "$(json runs.0.name)" null
ok orch show base --json
same "$(json key)" "$one"

ok orch tag "${two: -8}" paper good
says 'put 2 tags on 1 run'
ok orch tag "${two: -8}"
same "$out" $'good\npaper\nstart'
ok orch tag 'lr=0.1' paper --json
same "$(json runs.0.tags.0)" paper
ok orch ls --tag paper --tag good --json
same "$(json runs.0.key) $(json runs.1.key)" "$two "
ok orch ls --where 'tag = paper and lr < 0.15' --json
same "$(json runs.0.key) $(json runs.1.key)" "$one "
ok orch ls --where 'tag != good' --json
same "$(json runs.0.key) $(json runs.1.key)" "$one "
ok orch ls --where 'tag ~ GOO' --json
same "$(json runs.0.key)" "$two"
fails 2 orch ls --where 'tag < x'
says "'tag' is compared with =, != or ~"
ok orch tag "$two" good --remove
says 'took 1 tag from 1 run'
ok orch tag "$two" good --remove
says 'took 0 tags'
ok orch ls
has 'name'
has 'paper start'
fails 2 orch tag "$two" 'two words'
fails 2 orch name "$two" @last

ok orch note base 'with the old split'
ok orch note base
same "$out" 'with the old split'
ok orch ls --where 'note ~ split' --json
same "$(json runs.0.key) $(json runs.1.key)" "$one "
ok orch show base
has 'with the old split'
has 'name           base'
has 'tags           paper start'

# the newest name counts; of two runs with one name the one that began last is meant
ok orch name "$two" base
ok orch show base --json
same "$(json key)" "$two"
ok orch name "$one" older
ok orch name "$one" base
says "'base' still means run ${two: -8}, which also has this name and began later"
ok orch name "$two" --remove
ok orch show base --json
same "$(json key)" "$one"
fails 2 orch show older
ok orch ls --where 'run_name = base' --json
same "$(json runs.0.key) $(json runs.1.key)" "$one "

# nothing of it leaves unless --public says so
git init -q --bare ../hub.git
git remote add origin "$PWD/../hub.git"
git commit -q --allow-empty -m x
ok orch tag "$two" open --public
ok orch name "$two" shown --public
ok orch note "$two" 'for all' --public
ok orch push -q
git clone -q ../hub.git ../b 2>/dev/null
ok orch -C ../b pull -q
ok orch -C ../b ls --json
has '"open"'
has_not paper
has_not '"start"'
ok orch -C ../b show shown --json
has 'for all'
ok orch tag -C ../b --who Bob shown open --remove
ok orch -C ../b ls --tag open --json
same "$(json runs.0.key)" ''
ok orch tag "$two" open --remove
ok orch push -q
ok orch -C ../b pull -q
fails 2 orch name -C ../b --who Bob shown mine --public
says 'only the author'
