// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// rightsIn are all rights of the roles among objects: "verb resource", with the name if the rule has one.
func rightsIn(t *testing.T, objects []*unstructured.Unstructured) (all []string) {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() != "ClusterRole" && o.GetKind() != "Role" {
			continue
		}
		role := &rbacv1.ClusterRole{} // a Role has the same rules
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", verb, resource, strings.Join(rule.ResourceNames, ","))))
				}
			}
		}
	}
	return all
}

// A server that makes its certificate fills a Secret, and no other one has a right to Secrets.
func TestRightsToSecrets(t *testing.T) {
	embedded := values{"mode": "embedded"}
	for sentence, tc := range map[string]struct {
		values values
		want   []string
	}{
		"a server that makes its certificate": {values{"store": embedded},
			[]string{"get secrets statefulset-apiserver-ca", "list secrets statefulset-apiserver-ca", "update secrets statefulset-apiserver-ca",
				"watch secrets statefulset-apiserver-ca"}},
		"a certificate of cert-manager":      {values{"store": embedded, "tls": values{"mode": "certManager"}}, nil},
		"a certificate that is there":        {values{"store": embedded, "tls": existing()}, nil},
		"a certificate made with a release":  {values{"store": embedded, "tls": values{"mode": "helm"}}, nil},
		"an external store, with its Secret": {values{"store": external(), "tls": existing()}, nil},
	} {
		objects := renderObjects(t, tc.values)
		var got []string
		for _, right := range rightsIn(t, objects) {
			if strings.Contains(right, " secrets") {
				got = append(got, right)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", sentence, got, tc.want)
		}
	}
}

// Helm creates the Secret once and never changes it; what is applied without Helm has no data.
func TestTheSecretOfTheAuthorityIsEmpty(t *testing.T) {
	for sentence, tc := range map[string]struct {
		values values
		hook   string
	}{
		"with Helm":    {values{}, "pre-install,pre-upgrade"},
		"without Helm": {values{"namespace": values{"create": true}}, ""},
	} {
		var found *unstructured.Unstructured
		for _, o := range renderObjects(t, tc.values) {
			if o.GetKind() == "Secret" && o.GetName() == "statefulset-apiserver-ca" {
				found = o
			}
		}
		if found == nil {
			t.Errorf("%s: got no Secret statefulset-apiserver-ca, want one", sentence)
			continue
		}
		for _, field := range []string{"data", "stringData"} {
			if got, has := found.Object[field]; has {
				t.Errorf("%s: got %s %v, want none", sentence, field, got)
			}
		}
		if got := found.GetAnnotations()["helm.sh/hook"]; got != tc.hook {
			t.Errorf("%s: got hook %q, want %q", sentence, got, tc.hook)
		}
		if got := found.GetAnnotations()["helm.sh/resource-policy"]; got != "keep" {
			t.Errorf("%s: got resource policy %q, want keep", sentence, got)
		}
	}
}

func TestRightsThatCanBeLeftOut(t *testing.T) {
	for value, want := range map[string][]string{
		"gates":    {"patch pods/status"},
		"inPlace":  {"patch pods/resize", "patch pods/status"},
		"eviction": {"create pods/eviction"},
		"reads": {"get storageclasses", "list limitranges", "list poddisruptionbudgets", "list priorityclasses", "list runtimeclasses",
			"list serviceaccounts", "list services",
			"list storageclasses", "watch limitranges", "watch poddisruptionbudgets", "watch priorityclasses", "watch runtimeclasses",
			"watch serviceaccounts", "watch services", "watch storageclasses"},
	} {
		left := rightsIn(t, renderObjects(t, values{"rights": values{value: false}}))
		var lost []string
		for _, right := range rightsIn(t, renderObjects(t, values{})) {
			if i := slices.Index(left, right); i >= 0 {
				left = slices.Delete(left, i, i+1)
				continue
			}
			lost = append(lost, right)
		}
		slices.Sort(lost)
		if !slices.Equal(lost, want) || len(left) > 0 {
			t.Errorf("rights.%s=false: got without %q and with %q, want without %q and with nothing else", value, lost, left, want)
		}
	}
}
