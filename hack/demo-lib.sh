# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# What the demos and the tests on real nodes share: commands that are shown before they run, waits, and a watch of pods whose
# order is checked. It is sourced where DIR is the cluster's directory, EXAMPLE the manifest, SELECTOR the label of its pods,
# and TIMEOUT how many seconds a step may take.
# shellcheck shell=bash
watcher=

fail() {
  printf '\nFAILED: %s\n' "$*" >&2
  printf 'The cluster stays up: export KUBECONFIG=%s/kubeconfig; logs are in %s/logs\n' "$DIR" "$DIR" >&2
  exit 1
}
finish() { if [[ -n $watcher ]]; then kill "$watcher" 2>/dev/null || true; fi; }
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# What a test that has a cluster of its own does in the end; the logs stay if it has failed.
remove_cluster() {
  local code=$?
  trap '' INT TERM
  finish
  if ((code != 0)) && [[ -d $DIR/logs ]]; then
    "$@"
    rm -rf "$DIR-logs"
    cp -r "$DIR/logs" "$DIR-logs"
    echo "the cluster's logs are in $DIR-logs"
  fi
  bin/cluster down --dir "$DIR" --purge || code=1
  rm -rf "$DIR"
  exit "$code"
}

value() { kubectl get "$1" -o jsonpath="$2"; }
section() { printf '\n== %s (%ds)\n' "$1" "$SECONDS"; }
kubectl() { "$DIR/kubectl" --kubeconfig="$DIR/kubeconfig" "$@"; }
sts() { KUBECONFIG=$DIR/kubeconfig bin/kubectl-sts "$@"; }
show() {
  printf '$ kubectl'
  printf ' %s' "${@@Q}" | sed -E "s/'([A-Za-z0-9=,.:/_-]+)'/\1/g"
  printf '\n'
  kubectl "$@" || fail "kubectl $1 failed"
}

# await WHAT WANT COMMAND...: waits until the command prints exactly that.
await() {
  local what=$1 want=$2 got deadline=$((SECONDS + TIMEOUT))
  shift 2
  until got=$("$@" 2>&1) && [[ $got == "$want" ]]; do
    ((SECONDS < deadline)) || fail "$what: got $got, want $want"
    sleep 0.2
  done
}

# expect WHAT WANT COMMAND...: the command's output holds WANT, at some time.
expect() {
  local what=$1 want=$2 got deadline=$((SECONDS + TIMEOUT))
  shift 2
  until got=$("$@" 2>&1) && [[ $got == *"$want"* ]]; do
    ((SECONDS < deadline)) || fail "$what: got"$'\n'"$got"$'\n'"want it to contain $want"
    sleep 0.2
  done
}

remove_earlier_run() {
  kubectl delete -f "$EXAMPLE" --ignore-not-found --timeout="${TIMEOUT}s" || fail "the example of an earlier run could not be deleted"
  kubectl wait --for=delete pod -l "$SELECTOR" --timeout="${TIMEOUT}s" >/dev/null || fail "pods of an earlier run still exist"
  kubectl delete pvc -l "$SELECTOR" --timeout="${TIMEOUT}s" || fail "claims of an earlier run could not be deleted"
}

# The watch stays open for the whole demo, so that no change between two steps is missed. Its lines are read by follow.
watch_pods() {
  printf '$ kubectl get pods -l %s --watch --output-watch-events &\n' "$SELECTOR"
  exec 3< <(exec "$DIR/kubectl" --kubeconfig="$DIR/kubeconfig" get pods -l "$SELECTOR" --watch --output-watch-events)
  watcher=$!
}

declare -A ready=()

# note EVENT NAME READY STATUS keeps which pods are ready.
note() {
  unset "ready[$2]"
  if [[ $1 != DELETED && $4 == Running && ${3%/*} == "${3#*/}" ]]; then ready[$2]=yes; fi
}

# follow EVENT POD...: prints the watch until each pod has had the event; the events must come in the order of the pods. With
# ADDED, it also waits until these pods and all in $standing are ready, and wants everyone else ready when a pod is added.
follow() {
  local event=$1 deadline=$((SECONDS + TIMEOUT)) seen=() code line kind name rest
  shift
  while ((${#seen[@]} < $#)) || [[ $event == ADDED && -n $(unready "$@" "${standing[@]}") ]]; do
    code=0
    IFS= read -r -t $((deadline > SECONDS ? deadline - SECONDS : 1)) -u 3 line || code=$?
    if ((code > 128)); then
      fail "after ${TIMEOUT}s: want $event of $*; saw ${seen[*]:-none}; not ready: $(unready "$@" "${standing[@]}")"
    fi
    if ((code != 0)); then fail "the watch ended while waiting for $event of $*"; fi
    read -r kind name rest <<<"$line"
    if [[ $kind == EVENT ]]; then continue; fi
    printf '  %s\n' "$line"
    # shellcheck disable=SC2086 # the columns are words
    note "$kind" "$name" $rest
    if [[ $kind != "$event" ]]; then continue; fi
    expect_others_ready "$event" "$name" "${seen[@]}"
    seen+=("$name")
    [[ ${*:1:${#seen[@]}} == "${seen[*]}" ]] || fail "order of $event: got ${seen[*]}, want $*"
  done
  printf '  -> %s in order: %s\n' "$event" "${seen[*]}"
}

unready() {
  local pod
  for pod in "$@"; do
    if [[ -z ${ready[$pod]:-} ]]; then echo "$pod"; fi
  done | sort -u | paste -sd ' ' -
}

expect_others_ready() { # expect_others_ready EVENT NAME SEEN...
  if [[ $1 != ADDED ]]; then return; fi
  local name=$2 waiting
  shift 2
  waiting=$(unready "$@" "${standing[@]}")
  [[ -z ${waiting/$name/} ]] || fail "$name was added while these were not ready: $waiting"
}
