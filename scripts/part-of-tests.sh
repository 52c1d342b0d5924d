#!/bin/sh
# cargo runs each test program through this (CARGO_TARGET_<TRIPLE>_RUNNER, see the Makefile), in the directory of its crate.
# SEALION_TIMES=1 says how long each test took.
# SEALION_TESTS=testbed runs those of the testbed, which mostly wait for servers; SEALION_TESTS=rest runs all others beside them.
case $PWD in
*/crates/testbed) part=testbed ;;
*) part=rest ;;
esac
[ "$part" = "$SEALION_TESTS" ] || exit 0
if [ -n "${SEALION_TIMES:-}" ]; then
    # libtest has it for nightly only.
    RUSTC_BOOTSTRAP=1 exec "$@" -Z unstable-options --report-time
fi
exec "$@"
