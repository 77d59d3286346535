#!/bin/sh
# Starts a member of an etcd cluster whose members are those of a StatefulSet. The first begins a cluster of its own; each of
# the others adds itself to the members that answer, when it has no data yet. One that has its data goes on with it.
#
# This is an example. A member 0 that has lost its disk while no other member answers would begin another cluster.
set -eu
name=$(hostname)
ordinal=${name##*-}
set_name=${name%-*}
service=$set_name
peer() { echo "http://$1.$service:2380"; }

others=
i=0
while [ "$i" -lt "$MEMBERS" ]; do
  [ "$i" = "$ordinal" ] || others="$others${others:+,}http://$set_name-$i.$service:2379"
  i=$((i + 1))
done
ctl() { /etcdctl --endpoints="$others" --dial-timeout=1s --command-timeout=3s "$@"; }

run() {
  exec /etcd --name="$name" --data-dir=/data/etcd \
    --listen-client-urls=http://0.0.0.0:2379 --advertise-client-urls="http://$name.$service:2379" \
    --listen-peer-urls=http://0.0.0.0:2380 --initial-advertise-peer-urls="$(peer "$name")" "$@"
}

if [ -d /data/etcd/member ]; then
  echo "$name goes on with its data"
  run
fi
if ! members=$(ctl member list 2>/dev/null); then
  if [ "$ordinal" != 0 ]; then
    echo "$name waits: no member answers at $others"
    exit 1
  fi
  echo "$name begins a cluster"
  run --initial-cluster="$name=$(peer "$name")" --initial-cluster-state=new
fi
# A member of this name that has no data is one whose start was interrupted, or whose disk was lost.
old=$(echo "$members" | sed -n "s/^\([0-9a-f]*\), [a-z]*, [^,]*, http:\/\/$name\.$service:.*/\1/p")
[ -z "$old" ] || ctl member remove "$old"
added=$(ctl member add "$name" --peer-urls="$(peer "$name")")
cluster=$(echo "$added" | sed -n 's/^ETCD_INITIAL_CLUSTER="\(.*\)"$/\1/p')
echo "$name joins $cluster"
run --initial-cluster="$cluster" --initial-cluster-state=existing
