#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Checks the English of pages, and of the texts and comments in Go files: Vale with the rules of hack/prose/styles, and the
# length of the pages' sentences. Decision records and the log of performance are exempt: they stay as they were written.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v gcc >/dev/null || hack/debian-packages.sh "Vale needs a compiler of C" gcc libc6-dev

mapfile -t pages < <(git ls-files --cached --others --exclude-standard -- '*.md' ':!docs/adr/*' ':!docs/policy/performance-log.md' |
  sed "s|^|$PWD/|")
mapfile -t code < <(git ls-files --cached --others --exclude-standard -- '*.go' ':!*_test.go' ':!*zz_generated*' ':!client/*')
views=$(mktemp -d)
trap 'rm -rf "$views"' EXIT

go -C hack/prose test -count=1 ./...
go -C hack/prose build -o "$views/prose" .
failed=0
"$views/prose" -views "$views/code" "${code[@]}"
CGO_ENABLED=1 go -C hack/prose tool vale --config vale.ini --output=line "${pages[@]}" "$views/code" | sed "s|^$views/code/||; s|\.go\.md:|.go:|" || failed=1
"$views/prose" "${pages[@]}" || failed=1
exit $failed
