// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
)

func knownKinds(kinds ...schema.GroupVersionKind) meta.RESTMapper {
	known := meta.NewDefaultRESTMapper([]schema.GroupVersion{appsv1.SchemeGroupVersion, v1.SchemeGroupVersion})
	for _, kind := range kinds {
		known.Add(kind, meta.RESTScopeNamespace)
	}
	return mapper{known}
}

func TestWordsWithoutGroupMeanOurs(t *testing.T) {
	builtIn := appsv1.SchemeGroupVersion.WithKind(v1.Kind)
	words := knownKinds(builtIn, v1.GroupVersionKind(), appsv1.SchemeGroupVersion.WithKind("Deployment"))
	for word, want := range map[schema.GroupVersionResource]schema.GroupVersionKind{
		{Resource: "sts"}:          v1.GroupVersionKind(),
		{Resource: "statefulset"}:  v1.GroupVersionKind(),
		{Resource: "statefulsets"}: v1.GroupVersionKind(),
		{Resource: "statefulsets", Group: "apps.statefulset.dev"}: v1.GroupVersionKind(),
		{Resource: "statefulsets", Group: "apps"}:                 builtIn,
		{Resource: "statefulsets", Group: "apps", Version: "v1"}:  builtIn,
		{Resource: "deployments"}:                                 appsv1.SchemeGroupVersion.WithKind("Deployment"),
	} {
		t.Run(word.String(), func(t *testing.T) {
			if got, err := words.KindFor(word); err != nil || got != want {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
}

func TestClusterWithoutOurGroupIsSaidSo(t *testing.T) {
	words := knownKinds(appsv1.SchemeGroupVersion.WithKind(v1.Kind))
	for sentence, kind := range map[string]schema.GroupKind{
		"a word that a user typed": {Kind: "statefulset"},
		"a kind in a file":         ours(),
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := words.RESTMapping(kind)
			if want := "the server does not serve statefulsets.apps.statefulset.dev"; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want an error that begins with %q", err, want)
			}
		})
	}
	if _, err := words.RESTMapping(schema.GroupKind{Kind: "Other"}); !meta.IsNoMatchError(err) {
		t.Errorf("for another kind: got %v, want kubectl's own error", err)
	}
}
