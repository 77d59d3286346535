#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Builds the server of an earlier commit, or tag, and prints where it is. It is kept for the next time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! commit=$(git rev-parse --verify --quiet "$1^{commit}"); then
  echo "this clone has no commit $1; in a shallow clone, run git fetch --unshallow --tags" >&2
  exit 2
fi

server=${XDG_CACHE_HOME:-$HOME/.cache}/statefulset-apiserver/previous/$commit/statefulset-apiserver
if [[ ! -x $server ]]; then
  echo "building the server of $1" >&2
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  git archive "$commit" | tar -x -C "$work"
  mkdir -p "$(dirname "$server")"
  (cd "$work" && CGO_ENABLED=0 go build -trimpath -gcflags=all=-dwarf=false -buildvcs=false -o "$server" ./cmd/statefulset-apiserver)
fi
echo "$server"
