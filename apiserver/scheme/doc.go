// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scheme defines what the server decodes, defaults and encodes.
//
//	scheme.go     the types, the hub version that only the server knows, and the codecs
//	text_only.go  refuses objects that JSON cannot represent, and objects with too many values
package scheme
