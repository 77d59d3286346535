// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package access authenticates and authorizes callers. The host cluster decides both.
//
//	access.go     authentication and authorization, without a rate limit that callers would
//	              share
//	anonymous.go  limits callers without credentials to health checks, and the number of tokens
//	              that are checked at the same time
package access
