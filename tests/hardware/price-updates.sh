# Prices that the user adds to the built-in ones: stored, marked, used and removed; errors of the file are reported.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
kept=$XDG_DATA_HOME/orch/prices.csv
head=gpu,cloud,instance,region,gpus,usd_per_hour,spot_usd_per_hour,as_of,host,source
ok orch gpu prices --json
built_in=$(json prices.#)
same "$(json prices.0.yours)" false
ok orch gpu show K80 --json
same "$(json gpu.price.usd_per_gpu_hour) $(json gpu.price.cloud)" '0.9 aws'
ok orch gpu prices --remove
has 'prices removed: 0'

# a GPU by any of its names; another price of the same instance at the same date goes before the one built in
cat >new.csv <<C
$head
Tesla K80,azure,Standard_NC6,westus2,1,0.7,,2026-11,included,"azure.microsoft.com, read 2026-11-20"
H100,aws,p5.48xlarge,us-east-1,8,55.04,,2026-11-20,,aws.amazon.com
K80,aws,p2.xlarge,us-east-1,1,0.9,0.3554,2022-12,included,v3@76b7d2d
C
ok orch gpu prices --update new.csv
has '2 added, 0 replaced, 1 already known'
has "$kept"
same "$(head -1 "$kept")" "$head,ended"
same "$(wc -l <"$kept")" 3
ok orch gpu prices K80
has 'azure.microsoft.com, read 2026-11-20'
has 'yes'
ok orch gpu prices --json
same "$(json prices.#)" $((built_in + 2))
same "$(json prices.0.yours) $(json prices.2.yours)" 'true false'
ok orch gpu show K80 --json
same "$(json gpu.price.usd_per_gpu_hour) $(json gpu.price.as_of)" '0.7 2026-11'
ok orch predict --gpu H100 --cloud aws --net lenet5 --json
same "$(json predictions.0.usd_per_hour)" 6.88
# once more: nothing is added; with another price: replaced
ok orch gpu prices -u new.csv --json
same "$(json added) $(json replaced) $(json known)" '0 0 3'
sed -i 's/,0.7,/,0.6,/; /p5.48/d' new.csv
ok orch gpu prices -u new.csv
has '0 added, 1 replaced, 1 already known'
ok orch gpu show K80 --json
same "$(json gpu.price.usd_per_gpu_hour)" 0.6
ok orch gpu prices H100 --json
same "$(json prices.0.yours)" true

# what is wrong is said with its place, and nothing changes
cp "$kept" before.csv
bad() {
    printf '%s\n' "$head" "$1" >bad.csv
    fails 2 orch gpu prices --update bad.csv
    says "bad.csv:$2"
    says hint:
    cmp -s "$kept" before.csv || _fail 'the kept prices changed'
}
bad 'K80,aws,x,y,1,cheap,,2026,,me' 2:15
says "'cheap' in column 'usd_per_hour'"
bad 'V1000,aws,x,y,1,1,,2026,,me' 2:1
says "unknown GPU 'V1000'"
bad 'K80,aws,x,y,1,1,,soon,,me' 2:18
says 'is not a date'
bad 'K80,aws,x,y,1,1,,2026,,' 2:24
says "'source' is missing"
bad "$(printf 'K80,aws,x,y,1,1,,2026,,me\nK80 die,AWS,x,y,1,2,,2026,,me')" 3:1
says 'has the price of this instance as of 2026'
printf 'gpu,price\nK80,1\n' >bad.csv
fails 2 orch gpu prices --update bad.csv
says "no column 'cloud'"
says bad.csv:1:1
fails 3 orch gpu prices --update none.csv
says none.csv
fails 2 orch gpu prices K80 --update new.csv
says '--update'
{
    echo "$head"
    for i in $(seq 20001); do echo "K80,aws,x$i,y,1,1,,2026,,me"; done
} >many.csv
fails 2 orch gpu prices --update many.csv
says 'more than 20000 prices'
says many.csv:20002:1
# a file that was broken by hand is named, and can be removed
echo 'K80,aws' >>"$kept"
fails 2 orch gpu ls
says "$kept:4:5"
cp before.csv "$kept"

ok orch gpu prices K80 --remove
has 'prices removed: 1'
ok orch gpu show K80 --json
same "$(json gpu.price.usd_per_gpu_hour)" 0.9
ok orch gpu prices H100 --json
same "$(json prices.0.yours)" true
echo junk >"$kept"
ok orch gpu prices --remove
[ ! -e "$kept" ] || _fail 'the file is still there'
ok orch gpu prices --json
same "$(json prices.#)" "$built_in"
