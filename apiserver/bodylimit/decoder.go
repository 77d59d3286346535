// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bodylimit

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// LimitDecoder makes a decoder refuse JSON with too many values. A small patch can produce such an
// object.
func LimitDecoder(inner runtime.Decoder) runtime.Decoder { return fewDecoder{inner} }

// fewDecoder refuses JSON with too many values.
type fewDecoder struct {
	runtime.Decoder
}

func (d fewDecoder) Decode(data []byte, defaults *schema.GroupVersionKind,
	into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	// A value takes at least one byte, so ordinary bodies need not be counted again.
	if len(data) > MostValues && data[0] == '{' {
		if n := valuesInJSON(data); n > MostValues {
			return nil, nil, errors.New(tooManyValues(n))
		}
	}
	return d.Decoder.Decode(data, defaults, into)
}
