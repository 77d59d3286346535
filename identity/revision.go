// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// Source is the source of the pods of a revision: the template, and the identity with which it is
// rendered, nil if it is not rendered.
type Source struct {
	Template *corev1.PodTemplateSpec
	Identity *v1.MemberIdentity
}

// SourceOf is the source of the pods of the update revision.
func SourceOf(set *v1.StatefulSet) Source { return Source{&set.Spec.Template, set.Spec.Identity} }

// RevisionData is the data of a revision: a strategic merge patch that replaces the template, and
// the identity. Without an identity, the bytes are exactly those that apps/v1 records: values are
// encoded through a generic map, which sorts the keys.
func RevisionData(source Source) []byte {
	spec := map[string]any{"template": replacing(source.Template)}
	if source.Identity != nil {
		spec["identity"] = replacing(source.Identity)
	}
	data, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		panic(fmt.Sprintf("encoding a revision: %v", err))
	}
	return data
}

// replacing is a patch that replaces the existing value.
func replacing(value any) (generic map[string]any) {
	written, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(written, &generic)
	}
	if err != nil {
		// Values that were decoded can be encoded.
		panic(fmt.Sprintf("encoding the data of a revision: %v", err))
	}
	generic["$patch"] = "replace"
	return generic
}

// Recorded decodes the data of RevisionData. It returns an error if the data are not such a record.
func Recorded(data []byte) (Source, error) {
	var recorded struct {
		Spec struct {
			Template *corev1.PodTemplateSpec `json:"template"`
			Identity *v1.MemberIdentity      `json:"identity"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(data, &recorded); err != nil {
		return Source{}, fmt.Errorf("it cannot be read: %w", err)
	}
	if recorded.Spec.Template == nil {
		return Source{}, errors.New("it records no template")
	}
	return Source{recorded.Spec.Template, recorded.Spec.Identity}, nil
}
