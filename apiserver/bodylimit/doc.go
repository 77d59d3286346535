// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bodylimit limits the memory that bodies of requests need. A body of 3 MiB, within the
// limits of the generic server, could need more than a gigabyte once it is decoded, so this package
// counts the values in the body.
//
//	values.go   how many values a body has, in each encoding, before it is decoded
//	limit.go    the filter: a few values at any time, many if others have finished, too many never
//	decoder.go  the same for objects that a patch has produced from few values
package bodylimit
