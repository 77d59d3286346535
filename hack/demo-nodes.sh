#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Shows, on three real nodes, our server installed as a user installs it, and a set whose members run: their order, their
# names, their disks, an update, and a node that is cut off. It checks what it shows. The cluster stays up; on one that is up
# already, the set is recreated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

DIR=$PWD/.cluster-nodes
EXAMPLE=test/images/web/web.yaml
SELECTOR=app=web
TIMEOUT=120 # seconds that each step may take

. hack/demo-lib.sh

doctor() {
  printf '$ kubectl sts doctor\n'
  sts doctor || fail "doctor found failures"
}

doctor_says() { # doctor_says ABOUT
  { sts doctor || true; } | grep "$1"
}

node() { # node VERB NODE
  printf '$ bin/cluster node %s %s --dir %s\n' "$1" "$2" "${DIR#"$PWD"/}"
  bin/cluster node "$1" "$2" --dir "$DIR"
}

ask() { kubectl exec "$1" -- /web -ask "http://$2.web:8080/"; } # ask MEMBER MEMBER

read_note() { kubectl exec "$1" -- cat /data/note; }

expect_notes() {
  local member got
  for member in web-0 web-1 web-2; do
    got=$(read_note "$member") || fail "$member cannot read its note"
    [[ $got == "written by $member" ]] || fail "the note of $member: got $got, want written by $member"
  done
}

section "Three nodes"
bin/cluster up --nodes=real --dir "$DIR" --images bin/images
show get nodes -o wide

section "The server, installed with its chart: three replicas, and a store of three members"
HELM=(upgrade --install statefulset-apiserver artifacts/chart --namespace statefulset-system --create-namespace --wait --timeout 4m)
printf '$ helm %s\n' "${HELM[*]}"
# What a demo before has left may be of another build with the same name. Containers that have only just been started again
# with their node do not hear that they are to end, and are killed when their time is over.
kubectl -n statefulset-system delete pods --all --ignore-not-found --grace-period=5 >/dev/null
KUBECONFIG=$DIR/kubeconfig bin/helm "${HELM[@]}" || fail "helm failed"
show wait --for=condition=Available apiservice/v1.apps.statefulset.dev --timeout="${TIMEOUT}s"
show -n statefulset-system get pods -o wide
# In a cluster of before, the lease of the servers that were there has to run out.
expect "the result of doctor about the controller" "ok " doctor_says 'controller, lease'
doctor
remove_earlier_run

section "Three members, in order"
standing=()
watch_pods
show apply -f "$EXAMPLE"
follow ADDED web-0 web-1 web-2
show wait --for=jsonpath='{.status.readyReplicas}'=3 sset/web --timeout="${TIMEOUT}s"
show get pods -l "$SELECTOR" -o wide
show get pvc -l "$SELECTOR"

section "Each member finds the next one by its name"
for pair in web-0:web-1 web-1:web-2 web-2:web-0; do
  expect "the answer of ${pair#*:} to ${pair%:*}" "\"name\":\"${pair#*:}\"" ask "${pair%:*}" "${pair#*:}"
  show exec "${pair%:*}" -- /web -ask "http://${pair#*:}.web:8080/"
done
show logs web-1

section "A file survives its pod"
for member in web-0 web-1 web-2; do kubectl exec "$member" -- sh -c "echo 'written by $member' >/data/note && sync" || fail "$member cannot write"; done
standing=(web-0 web-2)
show delete pod web-1 --wait=false
follow ADDED web-1
show exec web-1 -- cat /data/note
expect_notes
expect "web-1 counts its starts on the same disk" '"starts":2' ask web-0 web-1

section "An update, from the last member to the first"
standing=(web-0 web-1 web-2)
show patch sset web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"REVISION","value":"2"}]}]}}}}'
follow ADDED web-2 web-1 web-0
show wait --for=jsonpath='{.status.updatedReplicas}'=3 sset/web --timeout="${TIMEOUT}s"
expect "the revision that web-0 reports" '"revision":"2"' ask web-1 web-0
expect_notes
echo "All three notes are still there."

section "A node is disconnected"
lost=$(kubectl get pod web-2 -o jsonpath='{.spec.nodeName}')
uid=$(kubectl get pod web-2 -o jsonpath='{.metadata.uid}')
member=web-2
node cut "$lost"
expect "the status of node $lost" "NotReady" kubectl get node "$lost"
expect "the deletion time of $member" "20" kubectl get pod "$member" -o jsonpath='{.metadata.deletionTimestamp}'
expect "the condition of the set" "node $lost has not confirmed" kubectl get sset web -o jsonpath='{.status.conditions[?(@.type=="Ready")].message}'
show get pods -l "$SELECTOR" -o wide
[[ $(kubectl get pod "$member" -o jsonpath='{.metadata.uid}') == "$uid" ]] || fail "$member was recreated while the old pod may still be running"
echo "Pod $member may still be running on $lost, so no second one is created. The set and doctor report what to do:"
show get sset web -o jsonpath='{.status.conditions[?(@.type=="Ready")].message}{"\n"}'
printf '$ kubectl sts doctor | grep set\n'
# The cluster may hold a connection to the server of that node for a while.
expect "the result of doctor about the set" "out-of-service" doctor_says 'set default/web'
doctor_says 'set default/web'

section "The node is back"
standing=()
node heal "$lost"
follow ADDED "$member"
show wait --for=jsonpath='{.status.readyReplicas}'=3 sset/web --timeout="${TIMEOUT}s"
[[ $(kubectl get pod "$member" -o jsonpath='{.metadata.uid}') != "$uid" ]] || fail "$member is still the old pod"
expect_notes
show get pods -l "$SELECTOR" -o wide
echo "$member was recreated after the old pod was deleted, with its name and its disk."

section "Done"
printf '\nThe demo took %ds. The cluster stays up:\n\n  export KUBECONFIG=%s/kubeconfig\n\nStop it with: make demo-down\n' "$SECONDS" "$DIR"
