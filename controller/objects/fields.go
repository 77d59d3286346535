// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// GenerateManager is the field manager of the generated values of a Secret. It never applies, so a
// later apply does not remove the fields that it owns.
const GenerateManager = identity.ObjectManager + "-generate"

// TakeOverPatch returns a patch that moves the fields that an object was created with to the
// manager that applies, nil if it has them already. Generated values stay with the manager that
// generated them.
func TakeOverPatch(live *metav1.PartialObjectMetadata) ([]byte, error) {
	entries := live.GetManagedFields()
	at := slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == GenerateManager && e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == ""
	})
	if at < 0 {
		return csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(identity.ObjectManager), identity.ObjectManager) //nolint:wrapcheck // the caller does
	}
	generated, others, err := splitGenerated(entries[at])
	if err != nil || others.Empty() {
		return nil, err
	}
	applied := slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == identity.ObjectManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
	})
	next := slices.Clone(entries)
	if applied < 0 {
		applied = len(next)
		next = append(next, entries[at])
		next[applied].Manager, next[applied].Operation = identity.ObjectManager, metav1.ManagedFieldsOperationApply
	} else {
		had, err := fieldsOf(entries[applied])
		if err != nil {
			return nil, err
		}
		others = others.Union(had)
	}
	if err := setFields(&next[at], generated); err != nil {
		return nil, err
	}
	if err := setFields(&next[applied], others); err != nil {
		return nil, err
	}
	return json.Marshal([]map[string]any{ //nolint:wrapcheck // the caller does
		{"op": "replace", "path": "/metadata/managedFields", "value": next},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
	})
}

// splitGenerated splits an entry into the fields of generated values, which stay with their
// manager, and all others.
func splitGenerated(entry metav1.ManagedFieldsEntry) (generated, others *fieldpath.Set, err error) {
	all, err := fieldsOf(entry)
	if err != nil {
		return nil, nil, err
	}
	others = all.RecursiveDifference(fieldpath.NewSet(
		fieldpath.MakePathOrDie("data"),
		fieldpath.MakePathOrDie("metadata", "annotations", v1.GeneratedAnnotation),
	))
	return all.Difference(others), others, nil
}

func fieldsOf(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	fields := &fieldpath.Set{}
	if entry.FieldsV1 == nil {
		return fields, nil
	}
	if err := fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
		return nil, fmt.Errorf("reading the fields of manager %q: %w", entry.Manager, err)
	}
	return fields, nil
}

func setFields(entry *metav1.ManagedFieldsEntry, fields *fieldpath.Set) error {
	text, err := fields.ToJSON()
	if err != nil {
		return fmt.Errorf("writing the fields of manager %q: %w", entry.Manager, err)
	}
	entry.FieldsV1 = metav1.NewFieldsV1(string(text))
	return nil
}
