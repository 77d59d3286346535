// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apiserver receives the requests. It combines the generic API server of
// k8s.io/apiserver with the one resource that registry/statefulset stores.
//
// The steps of a request, and where each one is handled:
//
//	connection                   certificates/: no connection is accepted before the CAs of
//	                             clients are known
//	TLS, authentication          access/: the host cluster's client CA, front-proxy CA and
//	                             token reviews; only health checks may be anonymous
//	fairness, audit, tracing     options.go: the generic server's option groups
//	authorization                access/: subject access reviews in the host cluster
//	right store                  store/guard: 503 if the store is not the right one
//	limits                       filters/: concurrent plans; bodylimit/: the memory of bodies;
//	                             store/space: the bytes of each namespace
//	choice of the resource       install.go: the list of resources
//	decoding, defaults           scheme/
//	admission                    admission/: namespace life cycle, policies and webhooks of
//	                             the host cluster, resource quota
//	strategy, validation         registry/statefulset, which tries pods and claims in the
//	                             host cluster (preflight/)
//	free space in the store      store/space
//	encoding for storage         storage/
//	etcd                         store/backend: an external cluster, or store/embedded
//
// routes.go and the checks of health.go answer requests that are not for a resource. The generic
// server answers discovery and OpenAPI requests, with the definitions of openapi.go.
//
// The life of the server is in run.go: open the port, wait for the host cluster (hostcluster/),
// open the storage, build the server, serve until the context ends. A hook starts the controller
// once the server serves, and the server waits for the controller before it stops serving
// (hooks.go), because the controller reads and writes sets through this server. Before it stops
// serving, the server closes its connections without losing a request (filters/handover.go).
//
// A request passes the packages of this directory. The directory store operates etcd and does not
// import the server, so an operator's actions on a store that no server uses (store/recovery)
// need only the command line and storage/. servertest/ has a whole server for tests.
package apiserver
