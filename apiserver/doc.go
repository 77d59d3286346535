// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apiserver is where a request enters. It joins the generic API server of
// k8s.io/apiserver with the one resource that registry/statefulset stores.
//
// The life of a request, and who handles each step:
//
//	connection                   certificates/: nobody is let in before the authorities of
//	                             clients are known
//	TLS, who is asking           access/: the host cluster's client CA, front-proxy CA and
//	                             token reviews; only health checks may be anonymous
//	fairness, audit, tracing     options.go: the generic server's option groups
//	may they do it               access/: subject access reviews on the host
//	is the store the right one   store/guard: 503 if it is not
//	what is bounded at once      filters/: plans; bodylimit/: the memory of bodies;
//	                             store/space: the bytes of each namespace
//	which resource               install.go: the table of contents
//	decoding, defaults           scheme/
//	admission                    admission/: namespace life cycle, policies and webhooks of
//	                             the host, resource quota
//	strategy, validation         registry/statefulset, which tries pods and claims on the
//	                             host (preflight/)
//	is there room in the store   store/space
//	encoding for storage         storage/
//	etcd                         store/backend: an external cluster, or store/embedded
//
// What is not a resource is answered by routes.go and by the checks of health.go, and
// discovery and OpenAPI by the generic server from what openapi.go gives it.
//
// The life of the server is in run.go: take the port, wait for the host (hostcluster/), open
// the storage, build the server, serve until the context ends. The controller is
// started by a hook once the server serves, and waited for before it stops
// serving (hooks.go), because it reads and writes sets through this server.
// Before it stops serving, the server gives its connections up in a way that loses
// no request (filters/handover.go).
//
// A request passes the rooms of this directory. What operates etcd is in the directory store,
// which does not import the server: so what an operator does with a store that no server uses
// (store/recovery) is between the command line and storage/. servertest/ has a whole server for
// tests.
package apiserver
