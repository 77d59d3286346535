// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	"statefulset.dev/apiserver/bodylimit"
	"statefulset.dev/registry/statefulset"
)

// TextOnly refuses bodies with text that JSON cannot represent. A protobuf body can contain such
// text, and part of the generic server panics on it.
func TextOnly(inner runtime.NegotiatedSerializer) runtime.NegotiatedSerializer {
	return textSerializer{inner}
}

type textSerializer struct {
	runtime.NegotiatedSerializer
}

// DecoderToVersion checks what was not decoded from JSON or YAML.
func (t textSerializer) DecoderToVersion(decoder runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	inner := t.NegotiatedSerializer.DecoderToVersion(decoder, version)
	if _, isJSON := decoder.(*json.Serializer); isJSON {
		return bodylimit.LimitDecoder(inner)
	}
	return textDecoder{inner}
}

// textDecoder refuses an object that JSON cannot represent.
type textDecoder struct {
	runtime.Decoder
}

func (d textDecoder) Decode(data []byte, defaults *schema.GroupVersionKind,
	into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, kind, err := d.Decoder.Decode(data, defaults, into)
	if err != nil {
		return obj, kind, err
	}
	if errs := statefulset.ValidateText(obj); len(errs) > 0 {
		return nil, kind, fmt.Errorf("the body cannot be represented as JSON: %w", errs.ToAggregate())
	}
	return obj, kind, nil
}
