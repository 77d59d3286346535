#!/bin/sh
# Starts ZooKeeper like the program of that name in other images of it: zkServer.sh --config DIR start-foreground
set -eu
if [ "${1-}" != --config ] || [ "${3-}" != start-foreground ]; then
  echo "want zkServer.sh --config DIR start-foreground, got: $*" >&2
  exit 2
fi
java=/usr/share/java
exec /usr/lib/jvm/java-17-openjdk-*/bin/java ${SERVER_JVMFLAGS:--Xmx256m} \
  -cp "/etc/zookeeper:$java/zookeeper.jar:$java/zookeeper-jute.jar:$java/slf4j-api.jar:$java/slf4j-log4j12.jar:$java/log4j-1.2.jar:$java/netty-all.jar:$java/snappy-java.jar:$java/metrics-core.jar" \
  org.apache.zookeeper.server.quorum.QuorumPeerMain "$2/zoo.cfg"
