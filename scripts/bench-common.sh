# What the scripts of `make bench` share; they read this file.

say() { printf 'bench: %s\n' "$*" >&2; }
absolute() { printf '%s/%s' "$(cd "$(dirname "$1")" && pwd)" "$(basename "$1")"; }

# Set to (setsid), the server is in a session of its own, as one that a service manager starts: sched(7), autogroup.
session=()

# start_mariadb DIR PORT [option ...]: MariaDB 10.11 in the background; its pid is in `pid`, and it listens.
start_mariadb() {
    local dir=$1
    "${session[@]}" "$here/start-server.sh" galera-10.11 "$@" &
    pid=$!
    for _ in $(seq 300); do
        if grep -q 'ready for connections' "$dir/log" 2>/dev/null; then return; fi
        sleep 0.2
    done
    say "MariaDB does not come up:"
    cat "$dir/log" >&2
    exit 1
}

# End what was started, by its own pid, and leave nothing.
finish() {
    [ -z "${pid:-}" ] || kill "$pid" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$work"
}

# machine LOAD: the line that says where and when; LOAD is /proc/loadavg of before.
machine() {
    printf '%s, %s, %s cores that server and tools share; load average %s before and\n' \
        "$(date -u +%Y-%m-%d)" "$(awk -F ': ' '/model name/ { print $2; exit }' /proc/cpuinfo)" "$(nproc)" "$1"
    printf '%s after (the run itself adds to it).\n' "$(cut -d ' ' -f 1-3 /proc/loadavg)"
    # Half a processor's work of somebody else is enough to widen every interval.
    if awk -v load="${1%% *}" 'BEGIN { exit load < 0.5 }'; then
        printf 'The machine was not quiet: the intervals are wide, and what they leave open is not shown here.\n'
    fi
}

# replace_section BEGIN END PAGE OUT: between its marks, or at the end where there was none.
replace_section() {
    local new
    new=$(mktemp -p "$work")
    touch "$4"
    awk -v begin="$1" -v end="$2" -v page="$3" '
        function put() { while ((getline line < page) > 0) print line; done = 1 }
        $0 == begin { put(); skipped = 1 }
        !skipped { print; last = $0 }
        $0 == end { skipped = 0 }
        END { if (!done) { if (last != "") print ""; put() } }' "$4" >"$new"
    cat "$new" >"$4"
    say "written: $4"
}
