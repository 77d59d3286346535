// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// RevisionData is what a revision records of a template: a strategic merge patch
// that puts the template in place of whatever is there. The bytes are those that
// apps/v1 records, to the letter: the template goes through a generic map, which
// sorts its keys, before it is written out.
func RevisionData(template *corev1.PodTemplateSpec) []byte {
	var generic map[string]any
	written, err := json.Marshal(template)
	if err == nil {
		err = json.Unmarshal(written, &generic)
	}
	if err != nil {
		// A template that came off the wire can be written to it.
		panic(fmt.Sprintf("encoding a pod template: %v", err))
	}
	generic["$patch"] = "replace"
	data, err := json.Marshal(map[string]any{"spec": map[string]any{"template": generic}})
	if err != nil {
		panic(fmt.Sprintf("encoding a pod template: %v", err))
	}
	return data
}

// RecordedTemplate reads back what RevisionData has written. It fails if data is no such
// record.
func RecordedTemplate(data []byte) (*corev1.PodTemplateSpec, error) {
	var recorded struct {
		Spec struct {
			Template *corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(data, &recorded); err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if recorded.Spec.Template == nil {
		return nil, errors.New("it records no template")
	}
	return recorded.Spec.Template, nil
}
