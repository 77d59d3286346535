// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bodylimit keeps the bodies of requests from taking more memory than the server has.
// A body of 3 MiB, within the limits of the generic server, could take more than a gigabyte
// once it is read, so what is counted are the values that it is made of.
//
//	values.go   how many values a body has, in each encoding, before it is read
//	limit.go    the filter: few values at any time, many in turn, too many never
//	decoder.go  the same for what a patch has made of few values
package bodylimit
