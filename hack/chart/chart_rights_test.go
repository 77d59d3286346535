// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The controller has no right to objects beside pods but those that an operator switches on.
func TestRightsToObjectsAreSwitchedOn(t *testing.T) {
	for sentence, tc := range map[string]struct {
		of     string
		values values
		want   []string
	}{
		"by default":               {},
		"to delete Services":       {"objectsDelete", values{"services": true}, []string{"statefulset-controller-objects-delete-services"}},
		"to Secrets":               {"objects", values{"secrets": true}, []string{"statefulset-controller-objects-secrets"}},
		"to Jobs and, no, to maps": {"objects", values{"jobs": true, "configmaps": false}, []string{"statefulset-controller-objects-jobs"}},
		"to all that have a switch": {
			"objects", values{"configmaps": true, "jobs": true, "secrets": true, "services": true},
			[]string{"statefulset-controller-objects-configmaps", "statefulset-controller-objects-jobs", "statefulset-controller-objects-secrets",
				"statefulset-controller-objects-services"}},
	} {
		given := values{}
		if tc.values != nil {
			given[tc.of] = tc.values
		}
		var got []string
		for _, o := range renderObjects(t, given) {
			if o.GetLabels()["apps.statefulset.dev/aggregate-to-controller"] == "true" {
				got = append(got, o.GetName())
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got the roles %q, want %q", sentence, got, tc.want)
		}
	}
}

// namespaces are so many.
func namespaces(count int) (names []any) {
	for n := range count {
		names = append(names, fmt.Sprintf("team-%d", n))
	}
	return names
}

// The rights to objects are bound in the whole cluster, or only in the namespaces that are listed.
func TestRightsToObjectsAreBoundInNamespaces(t *testing.T) {
	const everywhere = "ClusterRoleBinding in "
	for sentence, tc := range map[string]struct {
		values values
		want   []string
		flag   string
	}{
		"by default":         {want: []string{everywhere}},
		"with an empty list": {values: values{"objectNamespaces": []any{}}, want: []string{everywhere}},
		"in two namespaces": {values{"objectNamespaces": []any{"shop", "bank"}, "objects": values{"secrets": true},
			"objectsDelete": values{"secrets": true}}, []string{"RoleBinding in bank", "RoleBinding in shop"}, "--object-namespaces=shop,bank"},
		"in as many as there may": {values{"objectNamespaces": namespaces(50)}, nil, ""},
	} {
		var got []string
		flag := ""
		objects := renderObjects(t, tc.values)
		for _, o := range objects {
			if role, _, _ := unstructured.NestedString(o.Object, "roleRef", "name"); strings.HasPrefix(role, "statefulset-controller-objects") {
				if subjects, _, _ := unstructured.NestedSlice(o.Object, "subjects"); len(subjects) > 0 {
					got = append(got, o.GetKind()+" in "+o.GetNamespace())
				}
			}
		}
		for _, arg := range deploymentOf(t, objects).Spec.Template.Spec.Containers[0].Args {
			if strings.HasPrefix(arg, "--object-namespaces") {
				flag = arg
			}
		}
		slices.Sort(got)
		if tc.want == nil {
			if len(got) != 50 {
				t.Errorf("%s: got %d bindings, want 50", sentence, len(got))
			}
			continue
		}
		if !slices.Equal(got, tc.want) || flag != tc.flag {
			t.Errorf("%s: got the bindings %q and flag %q, want %q and %q", sentence, got, flag, tc.want, tc.flag)
		}
	}
}

// A manifest without data leaves the data alone when it is applied again, with Helm and with kubectl.
func TestSecretsOfTheStoreAreEmptyAndKept(t *testing.T) {
	secrets := func(values values) (names []string) {
		for _, o := range renderObjects(t, values) {
			if o.GetKind() != "Secret" {
				continue
			}
			names = append(names, o.GetName())
			for _, field := range []string{"data", "stringData", "immutable"} {
				if value, has := o.Object[field]; has {
					t.Errorf("%s: got %s %v, want none", o.GetName(), field, value)
				}
			}
			if got := o.GetAnnotations()["helm.sh/resource-policy"]; got != "keep" {
				t.Errorf("%s: got helm.sh/resource-policy %q, want keep", o.GetName(), got)
			}
		}
		slices.Sort(names)
		return names
	}
	serving := []string{"statefulset-apiserver-ca"}
	for mode, want := range map[string][]string{
		"members": append(serving, "statefulset-apiserver-etcd-client-ca", "statefulset-apiserver-etcd-peer-ca",
			"statefulset-apiserver-etcd-server-tls"),
		"embedded": serving,
	} {
		if got := secrets(values{"store": values{"mode": mode}}); !slices.Equal(got, want) {
			t.Errorf("store of mode %s: got the Secrets %v, want %v", mode, got, want)
		}
	}
}
