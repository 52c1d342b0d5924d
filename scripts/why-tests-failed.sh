#!/bin/sh
# The end of a long log is what is read first, and what survives where logs are cut: why each test failed stands there.
# Arguments: logs of `cargo test`.
echo
echo "why tests failed:"
for log in "$@"; do
    grep -hE '^test .*\.\.\. FAILED$' "$log"
    # Without the lines of backtraces.
    awk '/panicked at/ { left = 8 } /^test .* \.\.\. (ok|ignored)/ || /^ +[0-9]+: / || /^ +at / || /^stack backtrace/ { next } left > 0 { print "  " substr($0, 1, 400); left-- }' "$log" |
        head -n 200
done
