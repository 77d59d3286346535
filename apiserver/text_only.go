// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	"statefulset.dev/registry/statefulset"
)

// textOnly refuses bodies that hold what could never be sent as JSON. A body of
// protobuf can, and part of the generic server panics over it.
type textOnly struct {
	serializer.CodecFactory
}

// DecoderToVersion checks what was not read as JSON or YAML.
func (t textOnly) DecoderToVersion(decoder runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	inner := t.CodecFactory.DecoderToVersion(decoder, version)
	if _, isJSON := decoder.(*json.Serializer); isJSON {
		return fewDecoder{inner}
	}
	return textDecoder{inner}
}

// fewDecoder refuses JSON with too many values, which a patch may have made of few.
type fewDecoder struct {
	runtime.Decoder
}

func (d fewDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	// A value takes a byte at least, so ordinary bodies need not be counted once more.
	if len(data) > mostValues && data[0] == '{' {
		if n := valuesInJSON(data); n > mostValues {
			return nil, nil, errors.New(tooManyValues(n))
		}
	}
	return d.Decoder.Decode(data, defaults, into)
}

type textDecoder struct {
	runtime.Decoder
}

func (d textDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, kind, err := d.Decoder.Decode(data, defaults, into)
	if err != nil {
		return obj, kind, err
	}
	if errs := statefulset.ValidateText(obj); len(errs) > 0 {
		return nil, kind, fmt.Errorf("the body cannot be written as JSON: %w", errs.ToAggregate())
	}
	return obj, kind, nil
}
