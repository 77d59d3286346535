// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scheme says what the server decodes, defaults and encodes.
//
//	scheme.go     the types, the hub version that only the server knows, and the codecs
//	text_only.go  refuses what could not be said as JSON, and what has too many values
package scheme
