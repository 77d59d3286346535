#!/bin/sh
# Asks ZooKeeper: zkCli.sh -server HOST:PORT COMMAND...
set -eu
java=/usr/share/java
exec /usr/lib/jvm/java-17-openjdk-*/bin/java -Xmx64m -XX:TieredStopAtLevel=1 \
  -cp "/etc/zookeeper:$java/zookeeper.jar:$java/zookeeper-jute.jar:$java/slf4j-api.jar:$java/slf4j-log4j12.jar:$java/log4j-1.2.jar:$java/netty-all.jar:$java/commons-cli.jar" \
  org.apache.zookeeper.ZooKeeperMain "$@"
