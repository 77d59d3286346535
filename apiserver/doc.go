// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apiserver is where a request enters. It joins the generic API server of
// k8s.io/apiserver with the one resource that registry/statefulset stores.
//
// The life of a request, and who handles each step:
//
//	TLS, who is asking           access.go: the host cluster's client CA, front-proxy
//	                             CA and token reviews; only health checks may be
//	                             anonymous (anonymous.go)
//	fairness, audit, tracing     options.go: the generic server's option groups
//	may they do it               access.go: subject access reviews on the host
//	is the store the right one   guard.go says how that is known, guard_filter.go answers
//	                             503 if it is not
//	is there room for the body   room_gate.go: of bytes for its namespace, before it is
//	                             read; bodylimit/: of memory
//	which resource               install.go: the table of contents
//	decoding, defaults           scheme/
//	admission                    admission.go: namespace life cycle, policies and
//	                             webhooks of the host, resource quota
//	strategy, validation         registry/statefulset, which asks the host about pods
//	                             and claims through preflight.go
//	is there room in the store   room.go: for its namespace, and fill.go: for anything
//	encoding for storage         storage/
//	etcd                         an external cluster, or embeddedetcd/, with the
//	                             data directory that it guards
//
// What is not a resource is answered by routes.go and health.go, and discovery
// and OpenAPI by the generic server from what openapi.go gives it.
//
// The life of the server is in run.go: take the port, wait for the host, open the
// storage, build the server, serve until the context ends. The controller is
// started by a hook once the server serves, and waited for before it stops
// serving (hooks.go), because it reads and writes sets through this server.
// Before it stops serving, the server gives its connections up in a way that loses
// no request (filters/handover.go).
package apiserver
