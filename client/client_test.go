// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	kubetesting "k8s.io/client-go/testing"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client"
	apply "statefulset.dev/client/applyconfiguration/apps/v1"
	"statefulset.dev/client/clientset/versioned/fake"
)

func TestWhatCannotWorkIsRefused(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for sentence, c := range map[string]struct {
		config rest.Config
		want   string
	}{
		"an address":                     {rest.Config{Host: "https://10.0.0.1:6443"}, ""},
		"a name and a port":              {rest.Config{Host: "localhost:6443"}, ""},
		"another protocol":               {rest.Config{Host: "ftp://10.0.0.1"}, `host "ftp://10.0.0.1": want https:// or http://`},
		"no name":                        {rest.Config{Host: "https://:6443"}, `host "https://:6443" has no name`},
		"no address":                     {rest.Config{Host: "https://a b"}, "host: parse"},
		"a token with a space":           {rest.Config{Host: "a", BearerToken: "two words"}, "token: character 4 of 9 cannot stand in a header"},
		"a token file that is not there": {rest.Config{Host: "a", BearerTokenFile: "/does/not/exist"}, "token: open /does/not/exist"},
		"a token file that is empty":     {rest.Config{Host: "a", BearerTokenFile: empty}, "token: " + empty + " is empty"},
		"an authority that is none": {
			rest.Config{Host: "a", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("none")}}, "certificate authority: there is no certificate"},
		"an authority that is not there": {
			rest.Config{Host: "a", TLSClientConfig: rest.TLSClientConfig{CAFile: "/does/not/exist"}}, "certificate authority: open"},
		"a certificate without a key": {
			rest.Config{Host: "a", TLSClientConfig: rest.TLSClientConfig{CertData: []byte("none")}}, "client certificate and key: tls:"},
	} {
		err := client.Check(&c.config)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got error %v, want %q", sentence, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "two words") {
			t.Errorf("%s: got error %v, want it not to repeat the token", sentence, err)
		}
	}
}

func TestAPatchOfNoKindIsNotSent(t *testing.T) {
	clients := fake.NewClientset()
	sets := clients.AppsV1().StatefulSets("default")
	for kind, want := range map[types.PatchType]string{
		"application/toml":       `patch kind "application/toml": want one of`,
		types.ApplyYAMLPatchType: "want a field manager",
	} {
		if _, err := client.Patch(t.Context(), sets, "a", kind, []byte("{}"), metav1.PatchOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", kind, err, want)
		}
	}
	if sent := clients.Actions(); len(sent) > 0 {
		t.Errorf("got %v sent, want nothing", sent)
	}
}

func TestASetCanBeAppliedToTheFake(t *testing.T) {
	sets := fake.NewClientset().AppsV1().StatefulSets("default")
	wanted := apply.StatefulSet("web", "default").WithSpec(apply.StatefulSetSpec().WithMinReadySeconds(3))
	set, err := sets.Apply(t.Context(), wanted, metav1.ApplyOptions{FieldManager: "test"})
	if err != nil || set.Spec.MinReadySeconds != 3 {
		t.Errorf("got %v, %v, want 3 seconds", set, err)
	}
}

func TestAWatchTellsWhatChangesAndWhyItEnds(t *testing.T) {
	clients := fake.NewClientset()
	told := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 3})
	told.Add(set("2"))
	told.Action(watch.Bookmark, set("3"))
	told.Error(&metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired, Message: "too old"})
	clients.PrependWatchReactor("statefulsets", kubetesting.DefaultWatchReactor(told, nil))
	var seen []string
	for change, err := range client.Watch(t.Context(), clients.AppsV1().StatefulSets("default"), metav1.ListOptions{ResourceVersion: "1"}) {
		if err != nil {
			seen = append(seen, fmt.Sprint(apierrors.IsResourceExpired(err)))
		} else {
			seen = append(seen, string(change.Type)+change.Set.ResourceVersion)
		}
	}
	if want := []string{"ADDED2", "true"}; !slices.Equal(seen, want) {
		t.Errorf("got %q, want %q", seen, want)
	}
}

func TestAWatchEndsWithARefusalThatStays(t *testing.T) {
	for sentence, refusal := range map[string]error{
		"the version is too old":   apierrors.NewResourceExpired("too old"),
		"one may not":              apierrors.NewForbidden(v1.Resource("statefulsets"), "", nil),
		"there is no such kind":    apierrors.NewNotFound(v1.Resource("statefulsets"), ""),
		"the selector is none":     apierrors.NewBadRequest("selector"),
		"the token is not current": apierrors.NewUnauthorized("token"),
	} {
		clients := fake.NewClientset()
		clients.PrependWatchReactor("statefulsets", kubetesting.DefaultWatchReactor(nil, refusal))
		var got []error
		for _, err := range client.Watch(t.Context(), clients.AppsV1().StatefulSets("default"), metav1.ListOptions{ResourceVersion: "1"}) {
			got = append(got, err)
		}
		if len(got) != 1 || apierrors.ReasonForError(got[0]) != apierrors.ReasonForError(refusal) {
			t.Errorf("%s: got errors %v, want %v", sentence, got, refusal)
		}
	}
}

func TestAWatchNeedsAVersion(t *testing.T) {
	for _, err := range client.Watch(t.Context(), fake.NewClientset().AppsV1().StatefulSets("default"), metav1.ListOptions{}) {
		if err == nil || !strings.Contains(err.Error(), "watching") {
			t.Errorf("got error %v, want one", err)
		}
	}
}

func set(version string) *v1.StatefulSet {
	return &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", ResourceVersion: version}}
}
