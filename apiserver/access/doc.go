// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package access says who a caller is and what it may do. Both is asked of the host cluster.
//
//	access.go     authentication and authorization, put together without a rate that callers
//	              would share
//	anonymous.go  who has no credentials may ask for health only, and random tokens do not
//	              pile up
package access
