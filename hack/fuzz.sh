#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs every fuzz target of the module, one after the other, and prints a table. It fails if an input is found that breaks
# a target; go test has then written that input below testdata/fuzz of the target's package.
#
#   EXECS=1000000 hack/fuzz.sh [NAME...]     default: every target, with a million executions of each
#
# Inputs are not made smaller, for which go test takes up to a minute each: nearly all of the time would go there.
#
# With FAULTS_TABLE naming a file, one line of JSON per target is added to it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

EXECS=${EXECS:-1000000}
WANTED=" $* "
LOG=$(mktemp)
ROWS=$(mktemp)
trap 'rm -f "$LOG" "$ROWS"' EXIT
failed=0

# Prints the last number that go test reported under a name.
last() { grep -o "$1: [0-9]*" "$LOG" | tail -1 | grep -o '[0-9]*$' || echo 0; }

while IFS=: read -r file target; do
  [[ $WANTED == "  " || $WANTED == *" $target "* ]] || continue
  package=./$(dirname "$file")
  name=$(dirname "$file").$target
  begun=$SECONDS code=0
  go test -vet=off -toolexec="$PWD/hack/fuzz-toolexec.sh" -run='^$' -fuzz="^$target\$" -fuzztime="${EXECS}x" -fuzzminimizetime=0x "$package" >"$LOG" 2>&1 || code=$?
  execs=$(last execs) found=$(grep -o 'new interesting: [0-9]*' "$LOG" | tail -1 | grep -o '[0-9]*' || echo 0) failures=0
  if ((code != 0)); then
    failures=1 failed=1
    sed 's/^/    /' "$LOG" | tail -40
  fi
  if ((code == 0 && execs < EXECS)); then
    echo "$name ended after $execs of $EXECS executions"
    failures=1 failed=1
  fi
  printf '%s\t%s\t%s\t%s\t%ss\n' "$name" "$execs" "$found" "$failures" $((SECONDS - begun)) >>"$ROWS"
  printf '%-40s %10s executions %6s new interesting %3s failures %5ss\n' "$name" "$execs" "$found" "$failures" $((SECONDS - begun))
  if [[ -n ${FAULTS_TABLE:-} ]]; then
    printf '{"fault":"fuzzed input","side":"ours","where":"%s","runs":%d,"violations":%d,"detail":"decode, default, validate, convert, patch, plan"}\n' \
      "go test -fuzz" "$((execs > 0 ? execs : 1))" "$failures" >>"$FAULTS_TABLE"
  fi
done < <(grep -rn --include='*_test.go' -o 'func Fuzz[A-Za-z]*' api apiserver controller identity registry store | sed 's/:[0-9]*:func /:/' | sort)

[[ -s $ROWS ]] || { echo "no such fuzz target: $*"; exit 1; }
echo
{ printf 'target\texecutions\tnew interesting\tfailures\ttook\n'; cat "$ROWS"; } | column -t -s $'\t'
exit "$failed"
