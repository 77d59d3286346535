module statefulset.dev/test/cluster

go 1.26.8

require (
	golang.org/x/sync v0.24.0
	golang.org/x/sys v0.49.0
)
