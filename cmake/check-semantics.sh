#!/bin/sh
# Each rule of docs/semantics.md names a test, and each test of tests/test_semantics*.c stands behind a rule.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2016  # backquotes are the page's
sed -n 's/^|.*| `\([a-z0-9_]*\)` |$/\1/p' docs/semantics.md | sort > "$work/page"
# Rules of window folds are tested beside their other tests.
sed -n 's/^START_TEST(\([a-z0-9_]*\))$/\1/p' tests/test_semantics*.c > "$work/named"
sed -n 's/^START_TEST(\(rolled_[a-z0-9_]*\))$/\1/p' tests/test_window_folds.c >> "$work/named"
sort "$work/named" > "$work/tests"
diff -u "$work/page" "$work/tests"
