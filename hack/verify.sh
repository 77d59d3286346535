#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs every check that needs no cluster, one line each, and fails at the end if one of them did. A step that fails
# prints what it found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

ROOT=$PWD
VULNERABILITIES=https://vuln.go.dev/index/modules.json
failed=()
report=$(mktemp)
published=$(mktemp)
trap 'rm -f "$report" "$published"' EXIT

# step NAME COMMAND...: exit code 0 is ok, 75 is skipped with the command's last line as the reason.
step() {
  local name=$1 begun=$SECONDS code=0
  shift
  "$@" >"$report" 2>&1 || code=$?
  case $code in
    0) printf 'verify: %-24s ok (%ds)\n' "$name" $((SECONDS - begun)) ;;
    75) printf 'verify: %-24s skipped: %s\n' "$name" "$(tail -n 1 "$report")" ;;
    *)
      printf 'verify: %-24s FAILED (%ds)\n' "$name" $((SECONDS - begun))
      sed 's/^/    /' "$report"
      failed+=("$name")
      ;;
  esac
}

# Modules with a go.mod in this tree, "." first. Those without Go files of their own only pin what is built from elsewhere.
modules() { git ls-files --cached --others --exclude-standard -- go.mod '*/go.mod' | sort | xargs -n 1 dirname; }
code_modules() {
  local m
  for m in $(modules); do
    if [[ -n $(git ls-files --cached --others --exclude-standard -- "$m/*.go") ]]; then echo "$m"; fi
  done
}

each() { # each LIST COMMAND...: runs the command in every module of the list
  local list=$1 m code=0
  shift
  for m in $($list); do
    (cd "$m" && "$@") || { echo "in module $m: $*"; code=1; }
  done
  return $code
}

fingerprint() { git ls-files --cached --others --exclude-standard -z -- api client openapi artifacts/base artifacts/ha artifacts/kustomize artifacts/objects artifacts/objects-delete artifacts/protect artifacts/reclaim artifacts/rights | xargs -0 sha256sum --; }

# Compares with what was there before the run, and not with the last commit, so that uncommitted work can be checked too.
generated() {
  local before after
  before=$(fingerprint)
  hack/generate.sh || return 1
  after=$(fingerprint)
  if [[ $before != "$after" ]]; then
    echo "generated files were stale; make generate has now rewritten these, review and commit them:"
    diff <(echo "$before") <(echo "$after") | awk '/^[<>]/ {print "  " $3}' | sort -u
    return 1
  fi
}

# Compares the API with that of the newest release.
compatible() {
  local document=openapi/v3/apps.statefulset.dev_v1.json base
  base=$(git tag --list 'v*' --merged HEAD --sort=-version:refname | head -n 1)
  if [[ -z $base ]]; then
    echo "no release has been tagged yet, so the API may still change"
    return 75
  fi
  git show "$base:$document" >"$published"
  (cd hack/sdk && go run . breaking --document "../../$document" --before "$published" --changelog ../../CHANGELOG.md)
}

formatted() {
  local unformatted
  unformatted=$(git ls-files --cached --others --exclude-standard -z -- '*.go' | xargs -0 gofmt -l)
  if [[ -n $unformatted ]]; then
    echo "gofmt -w would change:"
    echo "$unformatted"
    return 1
  fi
}

imports() { go test -count=1 ./test/imports; }

# What the pages show is run by make test-docs. This looks that each says so, and that links lead somewhere.
documentation() { go test -count=1 ./test/docs/... ./hack/site; }

vulnerabilities() {
  if ! curl --fail --silent --show-error --max-time 5 --output /dev/null "$VULNERABILITIES"; then
    echo "the vulnerability database at ${VULNERABILITIES%/index/*} cannot be reached, so vulnerabilities were not checked; make release fails in this case"
    return 75
  fi
  go tool -modfile=go.tools.mod govulncheck ./...
}

step "generated files" generated
step "API compatibility" compatible
step "go mod tidy" each modules go mod tidy -diff
step "go mod verify" each modules go mod verify
step "gofmt" formatted
step "go vet" each code_modules go vet ./...
step "go vet, cluster tests" each code_modules go vet -tags=sdk,docs,e2e,differential,validation,faults,kubectl,gitops,migrate,uninstall,security,hosts,bench,nodes ./...
step "golangci-lint" each code_modules go tool -modfile="$ROOT/go.tools.mod" golangci-lint run ./...
step "import rules" imports
step "documentation" documentation
step "English" hack/prose.sh
step "govulncheck" vulnerabilities

if ((${#failed[@]})); then
  printf 'verify: failed in %ds: %s\n' "$SECONDS" "$(IFS=,; echo "${failed[*]}" | sed 's/,/, /g')"
  exit 1
fi
printf 'verify: everything passed in %ds\n' "$SECONDS"
