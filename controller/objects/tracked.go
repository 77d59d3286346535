// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// tracked is what the caches keep of an object that templates describe.
type tracked struct {
	metav1.ObjectMeta

	// ours is a digest of the fields that the controller manages, empty if it manages none.
	ours string
	// by is the other manager that changed the object last. later is true if that may have been
	// after the last change by the controller: times are in whole seconds.
	by    string
	later bool
}

// track returns what the caches keep of an object.
func track(object any) any {
	about, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object
	}
	kept := &tracked{ObjectMeta: hostread.TrimMeta(&about.ObjectMeta)}
	for key, value := range about.Annotations {
		if identity.IsReserved(key) {
			if kept.Annotations == nil {
				kept.Annotations = map[string]string{}
			}
			kept.Annotations[key] = value
		}
	}
	kept.ManagedFields = plan.TrimManagedFields(about)
	kept.ours, kept.by, kept.later = managed(about.ManagedFields)
	return kept
}

// managed reads who manages which fields. Changes of the status by others do not count. The
// controller's fields of an object are the same after a create and after an apply, but in different
// entries.
func managed(entries []metav1.ManagedFieldsEntry) (ours, by string, later bool) {
	fields, has := fieldpath.NewSet(), false
	var at, theirs time.Time
	for _, entry := range entries {
		when := time.Time{}
		if entry.Time != nil {
			when = entry.Time.Time
		}
		switch {
		case entry.Subresource != "":
		case entry.Manager == identity.ObjectManager, entry.Manager == GenerateManager:
			has = true
			if of, err := fieldsOf(entry); err == nil {
				fields = fields.Union(of)
			}
			if when.After(at) {
				at = when
			}
		case by == "" || when.After(theirs):
			by, theirs = entry.Manager, when
		}
	}
	if !has {
		return "", by, false
	}
	return digestOf(fields), by, by != "" && !theirs.Before(at)
}

func digestOf(fields *fieldpath.Set) string {
	text, err := fields.Leaves().ToJSON()
	if err != nil {
		text = []byte(err.Error()) // unlikely: the cluster sent these fields as JSON
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// differs reports whether two states of an object differ for the planner.
func (o *tracked) differs(other *tracked) bool {
	return o.ours != other.ours || o.by != other.by || o.later != other.later || hostread.MetaChanged(o.ObjectMeta, other.ObjectMeta) ||
		!equality.Semantic.DeepEqual(o.Annotations, other.Annotations)
}
