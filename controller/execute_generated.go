// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "statefulset.dev/api/apps/v1"
)

// drawn are random values, by key.
type drawn map[string]string

// draw generates the values of a Secret. No plan contains them, and the controller does not keep
// them.
func draw(keys []v1.GeneratedKey) drawn {
	texts := drawn{}
	for _, key := range keys {
		random := make([]byte, key.Bytes)
		_, _ = rand.Read(random) // it never fails
		texts[key.Key] = base64.RawURLEncoding.EncodeToString(random)
	}
	return texts
}

// into is a Secret with the values.
func (d drawn) into(secret *unstructured.Unstructured) *unstructured.Unstructured {
	made := secret.DeepCopy()
	data := make(map[string]any, len(d))
	for key, text := range d {
		data[key] = encoded(text)
	}
	made.Object["data"] = data
	return made
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// hush removes the values from an answer: a webhook may have repeated the object that it refuses.
func (d drawn) hush(err error) error {
	if err == nil {
		return nil
	}
	for _, text := range d {
		if said := err.Error(); strings.Contains(said, text) || strings.Contains(said, encoded(text)) {
			return silenced(err)
		}
	}
	return err
}

// silenced is an error of the same kind without its message.
func silenced(err error) error {
	const instead = "the response of the host cluster contains generated values and is not shown"
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return errors.New(instead)
	}
	told := status.Status()
	told.Message, told.Details = instead, nil
	return &apierrors.StatusError{ErrStatus: told}
}
