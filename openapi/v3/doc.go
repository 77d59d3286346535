// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v3 is the published OpenAPI document of our group, as the server serves it at
// /openapi/v3/apis/apps.statefulset.dev/v1. Clients in other languages and the JSON schemas in
// openapi/schemas are made from it by hack/sdk.
//
// It is written by make generate, from a server in the process of this package's test. What would break
// a client that was made from an earlier release's document fails make verify, unless CHANGELOG.md
// says that it is meant.
package v3
