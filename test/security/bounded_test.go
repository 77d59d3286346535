//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// refusedAt tries to create sets in dry runs. Each must be refused with the name of a field.
func refusedAt(t *testing.T, sets map[string]*v1.StatefulSet, field string) {
	t.Helper()
	w := shared(t)
	ns := w.Namespace(t, "security")
	for name, set := range sets {
		_, err := w.Sets.AppsV1().StatefulSets(ns).Create(t.Context(), set, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		var refusal apierrors.APIStatus
		var fields []string
		code := int32(http.StatusOK)
		if errors.As(err, &refusal) {
			code = refusal.Status().Code
			if details := refusal.Status().Details; details != nil {
				for _, cause := range details.Causes {
					fields = append(fields, cause.Field)
				}
			}
		}
		named := slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, field) })
		if code != http.StatusUnprocessableEntity || !named {
			t.Errorf("%s: got code %d, fields %q, %.300v; want code 422 with a field that begins with %s", name, code, fields, err, field)
		}
	}
}

// transformed is a set with an identity whose expressions may read VALUE.
func transformed(value, expression string) *v1.StatefulSet {
	set := harness.NewSet("tried", 1)
	set.Spec.Identity = &v1.MemberIdentity{Values: map[string]string{"VALUE": value},
		Transforms: []v1.Transform{{Path: "/metadata/annotations/test~1x", Expression: expression}}}
	return set
}

// TestExpressionsThatAskForMuchAreRefused sends expressions that ask for 16 to 64 MiB or for seconds
// of the processor. The suite of hostile faults sends ones that ask for gigabytes.
func TestExpressionsThatAskForMuchAreRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 4<<10)
	refusedAt(t, map[string]*v1.StatefulSet{
		"replace in replace": transformed(long, `[VALUE].map(x, x.replace("", "a")).map(z, z.replace("", z))[0]`),
		"join":               transformed(long, `[VALUE].map(x, [VALUE].map(y, x.split("").join(y)))[0][0]`),
		"replace by pattern": transformed(long, `[VALUE].map(x, [VALUE].map(y, regex.replace(x, "", y)))[0][0]`),
		"a pattern of values": transformed(strings.Repeat("a{1000}", 100),
			`string([1, 1].map(i, [VALUE].map(p, "".matches(p))).size())`),
	}, "spec.identity.transforms[0].expression")

	squared := describing("tried", "v1", "ConfigMap")
	squared.Spec.Identity = &v1.MemberIdentity{}
	squared.Spec.ObjectTemplates[0].Outputs = []v1.ObjectOutput{{Name: "OUTPUT", Expression: `object.data.a.replace("", object.data.a)`}}
	refusedAt(t, map[string]*v1.StatefulSet{"an output that squares a text": squared}, "spec.objectTemplates[0].outputs[0].expression")
}

// TestManifestsThatCanBeReadInTwoWaysAreRefused sends manifests of which two programs could read
// different kinds or names.
func TestManifestsThatCanBeReadInTwoWaysAreRefused(t *testing.T) {
	t.Parallel()
	sets := map[string]*v1.StatefulSet{}
	for name, keys := range map[string]string{
		"another kind in capitals":    `"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"},"Kind":"Secret"`,
		"another kind with one key":   `"apiVersion":"v1","kind":"Secret","metadata":{"name":"$(IDENTITY)-a"},"kind":"ConfigMap"`,
		"another version in capitals": `"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"},"APIVersion":"apps/v1"`,
		"another name in capitals":    `"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a","Name":"$(IDENTITY)-b"}`,
		"metadata in capitals":        `"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"},"Metadata":{"name":"$(IDENTITY)-b"}`,
	} {
		set := describing("tried", "v1", "ConfigMap")
		set.Spec.ObjectTemplates[0].Object = runtime.RawExtension{Raw: []byte("{" + keys + "}")}
		sets[name] = set
	}
	refusedAt(t, sets, "spec.objectTemplates[0].object")
}

// TestReservedKeysAreRefusedInTemplates sends templates with keys that the controller sets.
func TestReservedKeysAreRefusedInTemplates(t *testing.T) {
	t.Parallel()
	for _, key := range []string{v1.OverrideAnnotation, v1.ReplicasAnnotation, v1.OwnerAnnotation, v1.GroupName + "/unknown"} {
		values := map[string]string{key: "1"}
		label, annotation, override := harness.NewSet("tried", 1), harness.NewSet("tried", 1), harness.NewSet("tried", 1)
		claim := harness.WithClaim(harness.NewSet("tried", 1))
		label.Spec.Template.Labels[key] = "1"
		annotation.Spec.Template.Annotations = values
		claim.Spec.VolumeClaimTemplates[0].Annotations = values
		override.Spec.Overrides = []v1.MemberOverride{{Name: "first", Ordinals: []v1.OrdinalRange{{First: 0}}, Annotations: values}}
		for field, set := range map[string]*v1.StatefulSet{
			"spec.template.metadata.labels": label, "spec.template.metadata.annotations": annotation,
			"spec.volumeClaimTemplates[0].metadata.annotations": claim, "spec.overrides[0].annotations": override,
		} {
			refusedAt(t, map[string]*v1.StatefulSet{key: set}, fmt.Sprintf("%s[%s]", field, key))
		}
	}
	plain := harness.NewSet("tried", 1)
	plain.Spec.Template.Annotations = map[string]string{"example.com/mine": "1"}
	w := shared(t)
	sets := w.Sets.AppsV1().StatefulSets(w.Namespace(t, "security"))
	if _, err := sets.Create(t.Context(), plain, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Errorf("a key of another domain: got %v, want it accepted", err)
	}
}
