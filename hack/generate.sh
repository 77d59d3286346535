#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Writes every generated file of the repository. The generators are pinned by the
# tool directives of go.mod, so that they read the same k8s.io/api as the code. protoc
# has to be installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

MOD=statefulset.dev
API=$MOD/api/apps/v1
CLIENT=$MOD/client
HEADER=(--go-header-file hack/boilerplate.go.txt)

# Packages whose types ours refer to. openapi-gen must know that they are not
# its to write: otherwise it puts files into the module cache.
FOREIGN=(
  k8s.io/apimachinery/pkg/apis/meta/v1
  k8s.io/apimachinery/pkg/runtime
  k8s.io/apimachinery/pkg/version
  k8s.io/apimachinery/pkg/api/resource
  k8s.io/apimachinery/pkg/util/intstr
  k8s.io/api/core/v1
  k8s.io/api/autoscaling/v1
)

step() { printf 'generate: %s\n' "$1"; }

if ! command -v protoc >/dev/null; then
  echo "generate: protoc is missing. Install it: apt-get install protobuf-compiler, brew install protobuf, or" >&2
  echo "generate: a program from https://github.com/protocolbuffers/protobuf/releases in your PATH" >&2
  exit 1
fi

step deepcopy
go tool deepcopy-gen "${HEADER[@]}" --output-file zz_generated.deepcopy.go $API
step defaults
go tool defaulter-gen "${HEADER[@]}" --output-file zz_generated.defaults.go $API
step validations
go tool validation-gen "${HEADER[@]}" --output-file zz_generated.validations.go $API

step openapi
readonly_flags=()
for p in "${FOREIGN[@]}"; do readonly_flags+=(--readonly-pkg "$p"); done
go tool openapi-gen "${HEADER[@]}" --output-dir openapi --output-pkg $MOD/openapi \
  --output-file zz_generated.openapi.go --output-model-name-file zz_generated.model_name.go \
  --report-filename openapi/violations.report "${readonly_flags[@]}" "${FOREIGN[@]}" $API

step protobuf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/out" "$work/proto/k8s.io" "$work/proto/github.com/gogo" "$work/bin"
ln -s "$PWD" "$work/out/$MOD"
go mod download k8s.io/api k8s.io/apimachinery github.com/gogo/protobuf
for m in api apimachinery; do ln -s "$(go list -m -f '{{.Dir}}' k8s.io/$m)" "$work/proto/k8s.io/$m"; done
ln -s "$(go list -m -f '{{.Dir}}' github.com/gogo/protobuf)" "$work/proto/github.com/gogo/protobuf"
go build -o "$work/bin/" k8s.io/code-generator/cmd/go-to-protobuf/protoc-gen-gogo golang.org/x/tools/cmd/goimports
PATH="$work/bin:$PATH" go tool go-to-protobuf "${HEADER[@]}" --output-dir "$work/out" --packages $API \
  --proto-import "$work/proto" --proto-import "$work/proto/github.com/gogo/protobuf/protobuf" \
  --apimachinery-packages -k8s.io/apimachinery/pkg/util/intstr,-k8s.io/apimachinery/pkg/api/resource,-k8s.io/apimachinery/pkg/runtime/schema,-k8s.io/apimachinery/pkg/runtime,-k8s.io/apimachinery/pkg/apis/meta/v1,-k8s.io/api/core/v1

step "apply configurations"
go run ./hack/models >"$work/models.json"
go tool applyconfiguration-gen "${HEADER[@]}" --openapi-schema "$work/models.json" --output-dir client/applyconfiguration --output-pkg $CLIENT/applyconfiguration $API
sed -i.bak 's/dev\.statefulset\.api\.apps\.v1/dev.statefulset.apps.v1/' client/applyconfiguration/{internal/internal,apps/v1/statefulset}.go
rm client/applyconfiguration/{internal/internal,apps/v1/statefulset}.go.bak
step clientset
go tool client-gen "${HEADER[@]}" --input-base $MOD/api --input apps/v1 --clientset-name versioned \
  --apply-configuration-package $CLIENT/applyconfiguration \
  --output-dir client/clientset --output-pkg $CLIENT/clientset
step listers
go tool lister-gen "${HEADER[@]}" --output-dir client/listers --output-pkg $CLIENT/listers $API
step informers
go tool informer-gen "${HEADER[@]}" --output-dir client/informers --output-pkg $CLIENT/informers \
  --listers-package $CLIENT/listers --versioned-clientset-package $CLIENT/clientset/versioned $API

step document
go test -count=1 -run '^TestTheDocumentIsWhatTheServerServes$' ./openapi/v3 -update >/dev/null
(cd hack/sdk && go run . schemas --document ../../openapi/v3/apps.statefulset.dev_v1.json --out ../../openapi/schemas)

step manifests
(cd hack/chart && go run . --artifacts ../../artifacts)
step "kustomize component"
(cd test/gitops && go run ./generate --root ../..)
