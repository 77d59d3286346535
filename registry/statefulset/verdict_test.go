// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// Verdicts are taken where a user meets them: after the generated rules, those
// of this package and those for all objects were put together.

// onCreate lists what a user who creates the set is told.
func onCreate(t *testing.T, set *v1.StatefulSet) []string {
	t.Helper()
	rest.FillObjectMetaSystemFields(set)
	return settest.Causes(t, rest.BeforeCreate(newStrategy(newScheme(t), nil, nil), request(t), set))
}

// onUpdate lists what a user who changes Valid into the set is told.
func onUpdate(t *testing.T, set *v1.StatefulSet) []string {
	t.Helper()
	old := settest.Valid()
	old.ResourceVersion, set.ResourceVersion = "1", "1"
	return settest.Causes(t, rest.BeforeUpdate(newStrategy(newScheme(t), nil, nil), request(t), set, old))
}

func request(t *testing.T) context.Context {
	t.Helper()
	ctx := genericapirequest.WithNamespace(t.Context(), metav1.NamespaceDefault)
	return genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		APIGroup: v1.GroupName, APIVersion: v1.SchemeGroupVersion.Version, Resource: "statefulsets",
	})
}

type verdict struct {
	change func(*v1.StatefulSet)
	// want is the beginning of each error; none for a set that is accepted.
	want []string
}

func (v verdict) check(t *testing.T, got []string) {
	t.Helper()
	slices.Sort(got)
	same := len(got) == len(v.want)
	for i := range got {
		same = same && strings.HasPrefix(got[i], v.want[i])
	}
	if !same {
		t.Errorf("errors:\n got %q\nwant %q", got, v.want)
	}
}

func rolling(maxUnavailable intstr.IntOrString) func(*v1.StatefulSet) {
	return settest.Spec(func(s *v1.StatefulSetSpec) { s.UpdateStrategy.RollingUpdate.MaxUnavailable = &maxUnavailable })
}
