//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
)

// byHand does to a ConfigMap what a step says, and waits until the records have come to it: what is
// waited for next must not be found in what there was before.
func (r *run) byHand(ctx context.Context, step scenarios.Step) error {
	all := r.Host.CoreV1().ConfigMaps(r.namespace)
	var made *corev1.ConfigMap
	var removed types.UID
	err := repeat(ctx, func() (err error) {
		switch step := step.(type) {
		case scenarios.PutObject:
			if made, err = all.Create(ctx, step.Object(), metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
				made, err = all.Get(ctx, step.Name, metav1.GetOptions{})
			}
		case scenarios.PatchObject:
			made, err = all.Patch(ctx, step.Name, types.MergePatchType, []byte(step.Patch), metav1.PatchOptions{})
		case scenarios.DeleteObject:
			var there *corev1.ConfigMap
			if there, err = all.Get(ctx, string(step), metav1.GetOptions{}); err == nil {
				removed = there.UID
				err = all.Delete(ctx, string(step), metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(removed))})
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.await(ctx, func(o scenarios.Observed) string {
		if removed != "" {
			if slices.ContainsFunc(o.Objects, func(c corev1.ConfigMap) bool { return c.UID == removed }) {
				return fmt.Sprintf("the records have not come to the end of %s", removed)
			}
			return ""
		}
		if slices.ContainsFunc(r.all(), func(record record) bool {
			return record.kind == objects && record.object.GetName() == made.Name && record.object.GetResourceVersion() == made.ResourceVersion
		}) {
			return ""
		}
		return fmt.Sprintf("the records have not come to version %s of %s", made.ResourceVersion, made.Name)
	})
}

// objectsLacking finds pods that were created before the objects that the set described for their
// members, whichever generation it was created for.
func objectsLacking(j judged) []violation {
	var found []violation
	for _, r := range j.records {
		if r.kind != pods || r.verb != created {
			continue
		}
		lacking := ""
		for _, set := range j.setsAround(r.at) {
			lacking = ""
			for _, d := range scenarios.Describes(set) {
				if mine := d.Ordinal == "" || setName+"-"+d.Ordinal == r.object.GetName(); mine && !j.wasThere(objects, d.Name, r.version) {
					lacking = d.Name
				}
			}
			for _, name := range scenarios.Drawn(set, ordinalOf(r.object.GetName())) {
				if !j.wasThere(secrets, name, r.version) {
					lacking = name
				}
			}
			if lacking == "" {
				break
			}
		}
		if lacking != "" {
			found = append(found,
				violation{objectsThere, fmt.Sprintf("pod %s was created at version %d: got no %s then", r.object.GetName(), r.version, lacking)})
		}
	}
	return found
}

// wasThere reports whether there was an object of a kind and a name at a version.
func (j judged) wasThere(kind, name string, version int64) bool {
	there := false
	for _, r := range j.records {
		if r.kind == kind && r.object.GetName() == name && r.version < version {
			there = r.verb != gone
		}
	}
	return there
}

// objectsOfOthers finds objects that the controller has changed, or deleted, and that were not marked as
// its set's, or whatever they are by then; and those deleted that did not tell since when their member is
// removed.
func objectsOfOthers(j judged) []violation {
	var found []violation
	for _, e := range j.requests {
		if e.resource != objects || e.verb == "create" || e.verb == "get" || e.verb == "list" || e.verb == "watch" {
			continue
		}
		version := versionIn(e.body)
		at := slices.IndexFunc(j.records, func(r record) bool {
			return r.kind == objects && r.object.GetName() == e.name && r.object.GetResourceVersion() == version
		})
		if at >= 0 && scenarios.IsOf(setName, j.records[at].object) &&
			(e.verb == "patch" || e.verb == "delete" && isDated(j.records[at].object)) {
			continue
		}
		found = append(found, violation{objectsKept, fmt.Sprintf("%s %s at %s: got the body %.300s, want the version of one that was the set's",
			e.verb, e.name, e.at.Format(time.RFC3339Nano), e.body)})
	}
	return found
}

func isDated(object metav1.Object) bool {
	_, is := object.GetAnnotations()[v1.RetiredAtAnnotation]
	return is
}

// versionIn is the resource version that a patch rests on, an apply or one that says whose fields are, or
// a delete.
func versionIn(body []byte) string {
	var apply struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Preconditions struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"preconditions"`
	}
	if json.Unmarshal(body, &apply) == nil {
		return cmp.Or(apply.Metadata.ResourceVersion, apply.Preconditions.ResourceVersion)
	}
	var operations []struct {
		Path  string          `json:"path"`
		Value json.RawMessage `json:"value"`
	}
	_ = json.Unmarshal(body, &operations)
	for _, o := range operations {
		if o.Path == "/metadata/resourceVersion" {
			return strings.Trim(string(o.Value), `"`)
		}
	}
	return ""
}
