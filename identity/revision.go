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

// Source is what members of a revision are made from: the template, and what it is rendered with,
// nil if it is taken as it is.
type Source struct {
	Template *corev1.PodTemplateSpec
	Identity *v1.MemberIdentity
}

// SourceOf is what members of the present revision are made from.
func SourceOf(set *v1.StatefulSet) Source { return Source{&set.Spec.Template, set.Spec.Identity} }

// RevisionData is what a revision records: a strategic merge patch that puts the template,
// and what it is rendered with, in place of whatever is there. Without the latter the bytes are
// those that apps/v1 records, to the letter: what is written goes through a generic map, which
// sorts its keys, before it is written out.
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

// replacing is a patch that puts a value in place of whatever is there.
func replacing(value any) (generic map[string]any) {
	written, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(written, &generic)
	}
	if err != nil {
		// What came off the wire can be written to it.
		panic(fmt.Sprintf("encoding what a revision records: %v", err))
	}
	generic["$patch"] = "replace"
	return generic
}

// Recorded reads back what RevisionData has written. It fails if data is no such record.
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
