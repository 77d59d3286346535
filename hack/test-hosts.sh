#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs suites on clusters of several versions of Kubernetes, each on one of its own, and prints a table. All run even if one
# fails; the exit code says whether all passed.
#
#   HOSTS="1.34 1.37" hack/test-hosts.sh [SUITE...]     default: all versions, oldest first, and all suites
#
# Besides, "upgrade" starts a cluster of the first version and upgrades it to each of the others in turn, under a running
# server and sets. The end-to-end tests include those of the preflight. Each run's log is in .cluster-hosts-logs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

read -ra HOSTS <<<"${HOSTS:-1.34 1.35 1.36 1.37}"
ALL=(serves e2e doctor migrate guard upgrade)
if (($# > 0)); then SUITES=("$@"); else SUITES=("${ALL[@]}"); fi
LOGS=$PWD/.cluster-hosts-logs
TABLE=$(mktemp)
trap 'rm -f "$TABLE"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
failed=0

for suite in "${SUITES[@]}"; do
  [[ " ${ALL[*]} " == *" $suite "* ]] || { echo "unknown suite $suite; want one of ${ALL[*]}"; exit 2; }
done

wanted() { [[ " ${SUITES[*]} " == *" $1 "* ]]; }

# on HOST SUITE DIRECTORY [flags of the test binary]
on() {
  local host=$1 suite=$2 begun=$SECONDS result=ok log
  log=$LOGS/$host-$suite.log
  echo "=== $suite on $host"
  KUBERNETES=$host hack/test-on-cluster.sh "${@:3}" >"$log" 2>&1 || result=FAILED
  # Without a test, nothing was found out.
  if [[ $result == ok ]] && grep -q 'no tests to run' "$log"; then result=FAILED; fi
  if [[ $result != ok ]]; then
    failed=1
    tail -n 40 "$log" | sed 's/^/    /'
  fi
  printf '%s\t%s\t%s\t%s\n' "$host" "$suite" "$result" $((SECONDS - begun)) >>"$TABLE"
}

mkdir -p "$LOGS"
for host in "${HOSTS[@]}"; do
  ! wanted serves || on "$host" serves hosts -test.run=TestServes
  ! wanted e2e || on "$host" e2e e2e
  ! wanted doctor || on "$host" doctor kubectl/doctor
  ! wanted migrate || on "$host" migrate migrate
  # How long and how often matters to the server; make test-faults takes five minutes and 500 exchanges, on one host.
  ! wanted guard || GUARD_SURVIVE=${GUARD_SURVIVE:-1m} GUARD_TRIALS=${GUARD_TRIALS:-50} SUITE_TIMEOUT=40m on "$host" guard faults/guard
done
if wanted upgrade && ((${#HOSTS[@]} > 1)); then
  UPGRADE_TO="${HOSTS[*]:1}" on "${HOSTS[0]}" upgrade hosts -test.run=TestUpgradedHost -test.v
elif wanted upgrade; then
  echo "upgrade needs two versions in HOSTS, which is \"${HOSTS[*]}\""
  # Somebody who asked for nothing but the other suites has got them.
  (($# == 0)) || failed=1
fi

echo
{ printf 'host\tsuite\tresult\tseconds\n'; cat "$TABLE"; } | column -t -s $'\t'
echo "logs: $LOGS"
exit "$failed"
