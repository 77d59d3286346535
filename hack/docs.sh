#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Makes the documentation site in dist/site. Its pages are put together in site/.pages: those of this repository, with their
# links turned to where things are on the site, and reference pages that are written from the code. BASE is the path at which
# the site is served, / by default. VERSION is shown in the menu, and pages link to their source in REPOSITORY, a URL, if it is set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf 'docs: %s\n' "$1"; }

if ! command -v npm >/dev/null; then
  echo "docs: npm is missing. Install Node 20 or later" >&2
  exit 1
fi

step commands
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
# GO_FLAGS are those of make build, whose packages are used again; other flags compile Kubernetes once more.
# shellcheck disable=SC2086 # they are several words
COMMAND_PAGES=$commands CGO_ENABLED=0 go test ${GO_FLAGS:-} -ldflags='-s -w' -vet=off \
  -count=1 -run='^TestManPages$' ./cmd/statefulset-apiserver ./cmd/kubectl-sts >/dev/null

step pages
go run ./hack/site --root . --commands "$commands" --out site/.pages

step "npm packages"
if ! npm ls --prefix site >/dev/null 2>&1; then npm ci --prefix site --no-audit --no-fund --loglevel=error; fi

step site
export VERSION=${VERSION:-$(git describe --tags --always)} REPOSITORY=${REPOSITORY:-}
(cd site && BASE=${BASE:-/} npx --no-install vitepress build --outDir ../dist/site)
step terminals
find site/.pages -name '*.md' | while read -r page; do
  html=dist/site/${page#site/.pages/}
  html=${html%.md}.html
  fences=$(grep -c '^ *```console' "$page") || true
  shown=$(grep -o 'class="language-console terminal"' "$html" | wc -l) || true
  if ((fences != shown)); then
    echo "docs: $html shows $shown terminals, want one for each of the $fences command fences" >&2
    exit 1
  fi
done
step "done: $PWD/dist/site; to look at it: npm --prefix site run preview"
