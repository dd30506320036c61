# What a bisection cannot do is said before anything runs, or after the first runs of the ends.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/history.sh"
make_history 8
fails 2 orch bisect score HEAD~11..HEAD --min
says "no command: write it after '--'"
fails 2 orch bisect height HEAD~11..HEAD -- python3 job.py 1
says "the name 'height' does not say whether larger values are better"
says 'hint: --min: the lower the better; --max: the higher the better'
fails 2 orch bisect score HEAD~11..HEAD --min --max -- python3 job.py 1
says "option '--min' excludes '--max'"
fails 2 orch bisect score nothing..HEAD --min -- python3 job.py 1
says "'nothing' is not a commit"
fails 2 orch bisect score HEAD --min -- python3 job.py 1
says "'HEAD' is not of the form GOOD..BAD"
fails 2 orch bisect score HEAD~3...HEAD --min -- python3 job.py 1
says 'is not of the form GOOD..BAD'
fails 2 orch bisect score HEAD~3... --min -- python3 job.py 1
says 'is not of the form GOOD..BAD'
fails 2 orch bisect score HEAD..HEAD~3 --min -- python3 job.py 1
says "good commit 'HEAD' is a descendant of bad commit 'HEAD~3'"
says 'the good commit comes first: HEAD~3..HEAD'
fails 2 orch bisect score HEAD~2..HEAD~2 --min -- python3 job.py 1
says 'are the same commit'
git checkout -q -b side HEAD~6
echo '# side' >>job.py
git commit -qam side
fails 2 orch bisect score side..main --min -- python3 job.py 1
says "are on different branches"
says "$(git rev-parse --short=8 main~6)..main"
git checkout -q main
git commit -q --allow-empty -m 'no file'
fails 2 orch bisect score HEAD~1.. --min -- python3 job.py 1
says 'changes a file'
git reset -q --hard HEAD~1
fails 2 orch bisect score HEAD~3.. --min --repeat-at-most 1 -- python3 job.py 1
says "option '--repeat-at-most' must be at least 2"
fails 2 orch bisect score HEAD~3.. --min --budget much -- python3 job.py 1
says "option '--budget': 'much'"
fails 2 orch bisect score HEAD~3.. --min --budget 1usd -- python3 job.py 1
says 'the price per hour of this machine is not known'
ok orch ls --json
has '"runs": []'
# a folder that the good commit does not have
mkdir new
cp job.py new/
git add -A
git commit -qm new
cd new
fails 2 orch bisect score HEAD~1.. --min -- python3 job.py 1
says "commit $(git rev-parse --short=8 HEAD~1) has no folder 'new'"
cd ..
git reset -q --hard HEAD~1
# a metric that nobody prints: both ends run once, and what they print is named
fails 2 orch bisect loss HEAD~11..HEAD -- python3 job.py 1
says "the command prints no value of 'loss' at either commit"
says "at the good commit $(git rev-parse --short=8 HEAD~11) it prints score; at the bad commit $(git rev-parse --short=8 HEAD) it prints score"
says '[2]'
says_not '[3]'
# an end in which the command fails
fails 1 orch bisect score HEAD~6..HEAD --min -- python3 job.py 1
says "the command fails at the good commit $(git rev-parse --short=8 HEAD~6) (failed: exit status 1: broken)"
says "'orch log "
fails 1 orch bisect score HEAD~11..HEAD --min -- python3 missing.py
says 'the command fails at the good commit'
