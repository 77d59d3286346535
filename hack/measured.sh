#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Prints a digest of what make bench measures, and measures with: the code of the server and of the local cluster, without
# their tests, and the benchmarks. Results of other commits with the same digest are of the same run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

WHAT=(api apiserver cmd/statefulset-apiserver controller identity openapi registry window go.mod artifacts/base test/bench test/cluster
  ':(exclude,glob)[!t]*/**/*_test.go' ':(exclude,glob)**/testdata/**' ':(exclude)test/bench/results.json')

digest=$(git ls-files --stage -- "${WHAT[@]}" | sha256sum | cut -c1-12)
git diff --quiet HEAD -- "${WHAT[@]}" || digest+=-dirty
echo "$digest"
