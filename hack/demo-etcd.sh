#!/usr/bin/env bash
# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs an etcd cluster of three as one of our sets, on three real nodes, and writes to it all the time: while it is updated,
# scaled to five and back, and while a node loses its power. At the end every write that was acknowledged must be there. The
# cluster of nodes is that of make demo NODES=real, and stays up.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

DIR=$PWD/.cluster-nodes
EXAMPLE=test/images/etcd/etcd.yaml
SELECTOR=app=etcd
TIMEOUT=180 # seconds that each step may take

. hack/demo-lib.sh

ctl() { kubectl exec "$1" -c etcd -- /etcdctl --endpoints="http://${1}.etcd:2379" "${@:2}"; } # ctl MEMBER ARGUMENT...

# ready prints how many members are updated, ready and there, once the controller has seen the spec as it is.
ready() {
  local seen
  seen=$(kubectl get sset etcd -o jsonpath='{.metadata.generation} {.status.observedGeneration} {.status.updatedReplicas}/{.status.readyReplicas}/{.status.replicas}')
  read -r generation observed counts <<<"$seen"
  if [[ $generation == "$observed" ]]; then echo "$counts"; else echo "generation $generation is not observed"; fi
}
node_of() { kubectl get pod "$1" -o jsonpath='{.spec.nodeName}'; }
acknowledged() { kubectl logs writer --tail=1 | sed 's/^acknowledged //'; }

# more_writes N: waits until the writer has had N more acknowledged.
more_writes() {
  local from now deadline=$((SECONDS + TIMEOUT))
  from=$(acknowledged)
  until now=$(acknowledged) && ((now >= from + $1)); do
    ((SECONDS < deadline)) || fail "$((now - from)) writes were acknowledged since then, want $1"
    sleep 0.2
  done
  echo "acknowledged so far: $now writes"
}
ids() { ctl etcd-0 member list | sed -n "s/^\([0-9a-f]*\), started, $1,.*/\1/p"; }

section "Three nodes, and the server"
bin/cluster up --nodes=real --dir "$DIR" --images bin/images
sts install --image=statefulset-apiserver:dev >/dev/null || fail "the server could not be installed"
remove_earlier_run

section "An etcd with three members"
show apply -f "$EXAMPLE"
await "members that are ready" 3/3/3 ready
show get pods -o wide
ctl etcd-0 member list --write-out=table
more_writes 20

section "An update, under load"
show patch sset etcd -p '{"spec":{"template":{"metadata":{"annotations":{"update":"1"}}}}}'
await "members that are updated and ready" 3/3/3 ready
more_writes 20

section "To five members, and back to three"
show scale sset/etcd --replicas=5
await "members that are ready" 5/5/5 ready
ctl etcd-0 member list --write-out=table
more_writes 20
for member in etcd-4 etcd-3; do
  echo "$member leaves the etcd cluster, and then its pod is deleted"
  ctl etcd-0 member remove "$(ids "$member")" >/dev/null || fail "$member cannot be removed"
  show scale sset/etcd --replicas="${member#etcd-}"
  await "members that are ready" "${member#etcd-}/${member#etcd-}/${member#etcd-}" ready
done
# Their disks contain the ID of a removed member: a member that returns must start with an empty disk.
show delete pvc data-etcd-3 data-etcd-4
ctl etcd-0 member list --write-out=table
more_writes 20

section "A node loses power"
lost=
for member in etcd-2 etcd-1 etcd-0; do
  node=$(node_of "$member")
  server=$(kubectl -n statefulset-system get pod -l app.kubernetes.io/name=statefulset-apiserver -o jsonpath='{.items[0].spec.nodeName}')
  if [[ $node != "$(node_of writer)" && $node != "$server" ]]; then lost=$node && break; fi
done
[[ -n $lost ]] || fail "no node has a member but neither the writer nor the server"
bin/cluster node stop "$lost" --dir "$DIR"
more_writes 20
show get pods -o wide
bin/cluster node start "$lost" --dir "$DIR" --images bin/images
await "members that are ready" 3/3/3 ready
more_writes 20

section "Check that every acknowledged write exists"
last=$(acknowledged)
show delete pod writer --wait=true
kept=$(ctl etcd-0 get key- --prefix --keys-only | grep '^key-' | sed 's/^key-//' | sort -n)
missing=$(comm -13 <(sort <<<"$kept") <(seq 1 "$last" | sort) | wc -l)
((missing == 0)) || fail "$missing of $last acknowledged writes are lost"
printf '%d writes were acknowledged, and all of them exist.\n\nThe demo took %ds. The cluster stays up:\n\n  export KUBECONFIG=%s/kubeconfig\n\nStop it with: make demo-down\n' "$last" "$SECONDS" "$DIR"
