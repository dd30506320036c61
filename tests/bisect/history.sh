# Sourced by tests of 'orch bisect': make_history N [BROKEN] commits 12 versions of job.py, which prints a noisy score
# that is larger from version N on, and a copy of it in a folder, and of which version 6 (or those that BROKEN lists) does not run.
make_history() {
    local i mean
    for ((i = 1; i <= 12; i++)); do
        mean=10
        [ "$i" -lt "$1" ] || mean=13
        {
            echo 'import random, sys'
            echo "# version $i"
            case " ${2:-6} " in *" $i "*) echo 'sys.exit("broken")' ;; esac
            echo "random.seed(sys.argv[1] + '$i')"
            echo "print('score %.4f' % random.gauss($mean, 0.5))"
        } >job.py
        mkdir -p copy
        cp job.py copy/
        git add -A
        git commit -qm "change $i"
    done
}
