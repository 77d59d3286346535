// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

const (
	// WriteAnnotation contains, on each object, the name of the write that produced its state.
	WriteAnnotation = "faults.statefulset.dev/write"
	// ColorLabel is a label that writes change, so that objects start and stop matching a watch by
	// label.
	ColorLabel = "color"
)

// Version is one state of one object, as a client or the storage shows it.
type Version struct {
	// Key is the name of the object.
	Key string
	UID types.UID
	// Write is the name of the write that produced this version.
	Write string
	Color string
	// Revision is the resource version.
	Revision int64
	// Digest is equal for two objects that differ at most in the resource version.
	Digest string
}

// VersionOf returns the version of a set.
func VersionOf(set *v1.StatefulSet) (Version, error) {
	revision, err := strconv.ParseInt(set.ResourceVersion, 10, 64)
	if err != nil {
		return Version{}, fmt.Errorf("set %q has resource version %q, want a number", set.Name, set.ResourceVersion)
	}
	bare := set.DeepCopy()
	bare.ResourceVersion = ""
	content, err := bare.Marshal()
	if err != nil {
		return Version{}, fmt.Errorf("encoding set %q: %w", set.Name, err)
	}
	digest := sha256.Sum256(content)
	return Version{
		Key:      set.Name,
		UID:      set.UID,
		Write:    set.Annotations[WriteAnnotation],
		Color:    set.Labels[ColorLabel],
		Revision: revision,
		Digest:   hex.EncodeToString(digest[:8]),
	}, nil
}
