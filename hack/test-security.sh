#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the tests behind every item of the security list, and prints one row for each. Everything runs even if something
# fails. PATHS=100000 asks for that many paths when redirects are looked for.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

RESULTS=$(mktemp)
trap 'rm -f "$RESULTS"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# events passes what go test -json says on to the results, and what the tests print to the terminal.
events() { tee -a "$RESULTS" | go run ./test/security/table follow; }

for package in $(go run ./test/security/table packages); do
  go test -json -tags=security -count=1 -timeout=15m -run="$(go run ./test/security/table pattern "$package")" "./$package" | events || true
done
SUITE_TIMEOUT=20m hack/test-on-cluster.sh security -test.v=test2json 2>&1 | go tool test2json -t -p statefulset.dev/test/security | events || true
echo "the security suite took $((SECONDS / 60))m$((SECONDS % 60))s"
go run ./test/security/table results "$RESULTS"
