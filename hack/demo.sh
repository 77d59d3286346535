#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Shows one StatefulSet from creation to scale-down on a local cluster, with plain kubectl, and checks what it shows. The
# cluster stays up. On a cluster that is up already, the example is recreated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

DIR=$PWD/.cluster
EXAMPLE=artifacts/examples/web.yaml
SELECTOR=app=nginx
TIMEOUT=120 # seconds that each step may take
watcher=

fail() {
  printf '\nFAILED: %s\n' "$*" >&2
  printf 'The cluster is left as it is: export KUBECONFIG=%s/kubeconfig; logs are in %s/logs\n' "$DIR" "$DIR" >&2
  exit 1
}
finish() { if [[ -n $watcher ]]; then kill "$watcher" 2>/dev/null || true; fi; }
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

section() { printf '\n== %s (%ds)\n' "$1" "$SECONDS"; }
kubectl() { "$DIR/kubectl" --kubeconfig="$DIR/kubeconfig" "$@"; }
show() {
  printf '$ kubectl'
  printf ' %s' "${@@Q}" | sed -E "s/'([A-Za-z0-9=,.:/_-]+)'/\1/g"
  printf '\n'
  kubectl "$@" || fail "kubectl $1 did not succeed"
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

claim_uids() { kubectl get pvc -l "$SELECTOR" --no-headers -o custom-columns=NAME:.metadata.name,UID:.metadata.uid; }

expect_claims() { # expect_claims COUNT: www-web-0 to www-web-(COUNT-1) exist and are Bound
  kubectl wait --for=jsonpath='{.status.phase}'=Bound pvc -l "$SELECTOR" --timeout="${TIMEOUT}s" >/dev/null || fail "a claim is not Bound"
  local got want
  got=$(kubectl get pvc -l "$SELECTOR" -o jsonpath='{range .items[*]}{.metadata.name} {end}')
  want=$(seq -f 'www-web-%g' -s ' ' 0 $(($1 - 1)))
  [[ ${got% } == "$want" ]] || fail "claims: got ${got% }, want $want"
}

expect_kept() { # expect_kept BEFORE: the claims are the same objects as before, and Bound
  local now
  now=$(claim_uids)
  [[ $now == "$1" ]] || fail "claims were replaced: before"$'\n'"$1"$'\n'"now"$'\n'"$now"
  expect_claims "$(wc -l <<<"$1")"
}

remove_earlier_run() {
  kubectl delete -f "$EXAMPLE" --ignore-not-found --timeout="${TIMEOUT}s" || fail "the example of an earlier run cannot be deleted"
  kubectl wait --for=delete pod -l "$SELECTOR" --timeout="${TIMEOUT}s" >/dev/null || fail "pods of an earlier run stay"
  kubectl delete pvc -l "$SELECTOR" --timeout="${TIMEOUT}s" || fail "claims of an earlier run stay"
}

hostnames() {
  show get pods -l "$SELECTOR" -o custom-columns=POD:.metadata.name,HOSTNAME:.spec.hostname,SUBDOMAIN:.spec.subdomain,CREATED:.metadata.creationTimestamp
  echo "DNS names:"
  local pod hostname subdomain namespace
  while read -r pod hostname subdomain namespace; do
    [[ $hostname == "$pod" && $subdomain == nginx ]] || fail "pod $pod: got hostname $hostname and subdomain $subdomain, want $pod and nginx"
    printf '  %s.%s.%s.svc.cluster.local\n' "$hostname" "$subdomain" "$namespace"
  done < <(kubectl get pods -l "$SELECTOR" --no-headers -o custom-columns=P:.metadata.name,H:.spec.hostname,S:.spec.subdomain,N:.metadata.namespace)
}

section "A local cluster with our API server"
bin/cluster up --dir "$DIR"
bin/cluster register --dir "$DIR" --server bin/statefulset-apiserver --manifests artifacts/base
show get apiservice v1.apps.statefulset.dev
remove_earlier_run

section "Three members, in order"
standing=()
watch_pods
show apply -f "$EXAMPLE"
follow ADDED web-0 web-1 web-2
show wait --for=jsonpath='{.status.readyReplicas}'=3 sset/web --timeout="${TIMEOUT}s"
show get sset web
show get pods -l "$SELECTOR" --sort-by=.metadata.creationTimestamp
expect_claims 3
show get pvc -l "$SELECTOR"
hostnames

section "Scale to 5"
echo "The example asks for ten seconds of readiness before each next step (minReadySeconds). From here on it does not, to save you the wait."
show patch sset web --type=merge -p '{"spec":{"minReadySeconds":0}}'
standing=(web-0 web-1 web-2)
show scale sset/web --replicas=5
follow ADDED web-3 web-4
expect_claims 5
show get pvc -l "$SELECTOR"
claims=$(claim_uids)

section "A new image, from the last member to the first"
standing=(web-0 web-1 web-2 web-3 web-4)
show patch sset web -p '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"registry.k8s.io/nginx-slim:0.25"}]}}}}'
follow ADDED web-4 web-3 web-2 web-1 web-0
show wait --for=jsonpath='{.status.updatedReplicas}'=5 sset/web --timeout="${TIMEOUT}s"
show get pods -l "$SELECTOR" -o custom-columns=POD:.metadata.name,IMAGE:.spec.containers[0].image,CREATED:.metadata.creationTimestamp
images=$(kubectl get pods -l "$SELECTOR" -o jsonpath='{.items[*].spec.containers[0].image}' | tr ' ' '\n' | sort -u)
[[ $images == registry.k8s.io/nginx-slim:0.25 ]] || fail "images: got $images, want registry.k8s.io/nginx-slim:0.25 only"
expect_kept "$claims"
echo "All five claims are the same objects as before."

section "Scale to 2"
show scale sset/web --replicas=2
follow DELETED web-4 web-3 web-2
show wait --for=jsonpath='{.status.replicas}'=2 sset/web --timeout="${TIMEOUT}s"
show get pods -l "$SELECTOR"
show get pvc -l "$SELECTOR"
expect_kept "$claims"
echo "The claims of the removed members are still there, with their data."

section "Done"
show get statefulsets.apps.statefulset.dev -A
printf '\nThe demo took %ds. The cluster stays up:\n\n  export KUBECONFIG=%s/kubeconfig\n\nStop it with: make demo-down\n' "$SECONDS" "$DIR"
