#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs a tool of a build for fuzzing, for go test -toolexec. Only packages that read what is fuzzed count their branches:
# the fuzzer looks at the counters of the whole program after every execution, and with those of all dependencies that
# takes ten times as long as most executions.
set -euo pipefail
tool=$1
shift
if [[ ${tool##*/} != compile ]]; then
  exec "$tool" "$@"
fi
if [[ ${1:-} == -V=full ]]; then
  # What is compiled so is cached under a name of its own.
  echo "$("$tool" "$@") counted:1"
  exit
fi
case ${TOOLEXEC_IMPORTPATH%% *} in
  statefulset.dev/api/* | statefulset.dev/apiserver | statefulset.dev/apiserver/* | statefulset.dev/controller/* | statefulset.dev/identity | statefulset.dev/registry/* | statefulset.dev/store/*) ;;
  k8s.io/apimachinery/* | k8s.io/kubernetes/pkg/apis/core/validation | sigs.k8s.io/* | go.yaml.in/* | gopkg.in/*) ;;
  *)
    args=()
    for arg; do
      [[ $arg == -d=libfuzzer ]] || args+=("$arg")
    done
    set -- "${args[@]}"
    ;;
esac
exec "$tool" "$@"
