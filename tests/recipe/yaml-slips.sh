# Common mistakes in YAML give one error each, with its line and a hint.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
slip() { # slip SED PLACE WHAT HINT
    printf 'format: 1\nrecipe: y\nabout: hi\nexperiments:\n  a:\n    plugin: sleep\n    sweep: { seconds: [0.1, 0.2] }\n' | sed "$1" >y.recipe
    fails 2 orch check y.recipe
    says "$3"
    says "at: y.recipe:$2"
    says "hint: $4"
    same "$(grep -c ^orch: <<<"$err")" 1 "errors of $1"
}
slip 's/\[0.1, 0.2\]/range(1, 3)/' 7:23 "a comma splits 'range(1, 3)'" 'put quotes around it: "range(1, 3)"'
slip 's/\[0.1, 0.2\]/range(1, 9, 2)/' 7:23 "a comma splits 'range(1, 9, 2)'" 'put quotes around it: "range(1, 9, 2)"'
slip 's/\[0.1, 0.2\]/[range(1, 3)]/' 7:24 "a comma splits 'range(1, 3)'" 'put quotes'
slip 's/about: hi/about: Try: a/' 3: 'not valid YAML' "put quotes around a text that holds ': '"
slip 's/^    plugin/\tplugin/' 6:1 'not valid YAML' 'indent with spaces'
slip 's/plugin: sleep/plugin:sleep/' 6:5 'not valid YAML' "write a space after the colon: 'plugin: sleep'"
slip 's/plugin: sleep/plugin = sleep/' 6:5 'not valid YAML' "write a colon and a space: 'plugin: sleep'"
slip 's/^    plugin: sleep/&\n&/' 7:5 "duplicate key 'plugin' (first at line 6" 'remove one of the two'
slip 's/about: hi/about: "hi/' 3:8 'not valid YAML' 'end the text with the same quote with which it begins'
slip "s/about: hi/about: 'it's'/" 3: 'not valid YAML' 'put quotes around the whole text'
slip 's/0.2\]/0.2/' 7: 'not valid YAML' "close every '['"
slip 's/^    sweep/   sweep/' 7:4 'not valid YAML' 'begin the keys of one map in the same column'
slip 's/^    sweep/      sweep/' 6: 'not valid YAML' "end this line's key with ': ', or indent the next line"
slip 's/about: hi/about: - hi/' 3:8 'not valid YAML' "put quotes around a text that begins with '- '"
slip 's/about: hi/about: @hi/' 3:8 'not valid YAML' 'put quotes around a text that begins with this sign'
# quoted, or on a line of its own, it is a range; parentheses without a comma are a text
printf 'format: 1\nrecipe: y\nabout: f(x, y) (really)\nexperiments:\n  a:\n    plugin: "null"\n    sweep: { metrics: "range(1, 3)" }\n  b:\n    plugin: "null"\n    sweep:\n      metrics: range(1, 3)\n' >y.recipe
ok orch check y.recipe
has '2 experiments, 4 trials'
