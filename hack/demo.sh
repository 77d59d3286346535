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

. hack/demo-lib.sh

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

hostnames() {
  show get pods -l "$SELECTOR" -o custom-columns=POD:.metadata.name,HOSTNAME:.spec.hostname,SUBDOMAIN:.spec.subdomain,CREATED:.metadata.creationTimestamp
  echo "DNS names:"
  local pod hostname subdomain namespace
  while read -r pod hostname subdomain namespace; do
    [[ $hostname == "$pod" && $subdomain == nginx ]] || fail "pod $pod: got hostname $hostname and subdomain $subdomain, want $pod and nginx"
    printf '  %s.%s.%s.svc.cluster.local\n' "$hostname" "$subdomain" "$namespace"
  done < <(kubectl get pods -l "$SELECTOR" --no-headers -o custom-columns=P:.metadata.name,H:.spec.hostname,S:.spec.subdomain,N:.metadata.namespace)
}

section "A local cluster with the API server"
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
echo "The example requires ten seconds of readiness before each next step (minReadySeconds). From here on it does not, to save time."
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
echo "The claims of the removed members still exist, with their data."

section "Done"
show get statefulsets.apps.statefulset.dev -A
printf '\nThe demo took %ds. The cluster stays up:\n\n  export KUBECONFIG=%s/kubeconfig\n\nStop it with: make demo-down\n' "$SECONDS" "$DIR"
