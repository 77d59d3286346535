module statefulset.dev/test/cluster

go 1.26.8
