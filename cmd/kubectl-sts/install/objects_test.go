// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestTheManifestsCanBeAppliedInTheirOrder(t *testing.T) {
	for sentence, single := range map[string]bool{"one server": true, "three servers and their store": false} {
		t.Run(sentence, func(t *testing.T) { checkOrder(t, single) })
	}
}

func checkOrder(t *testing.T, single bool) {
	const image = "registry.example/statefulset-apiserver:v1"
	all, err := objects(image, single)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for i, object := range all {
		name := object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
		if object.GetKind() == "" || object.GetName() == "" {
			t.Errorf("object %d: got %q, want a kind and a name", i, name)
		}
		if _, twice := seen[name]; twice {
			t.Errorf("%s: got it twice", name)
		}
		seen[name] = i
	}
	for _, order := range [][2]string{
		{"Namespace /statefulset-system", "ServiceAccount statefulset-system/statefulset-apiserver"},
		{"Role statefulset-system/statefulset-apiserver-certificates", "Deployment statefulset-system/statefulset-apiserver"},
		{"Deployment statefulset-system/statefulset-apiserver", "APIService /v1.apps.statefulset.dev"},
	} {
		first, there := seen[order[0]]
		then, too := seen[order[1]]
		if !there || !too || first > then {
			t.Errorf("%s: got place %d (%v), want it before %s at %d (%v)", order[0], first, there, order[1], then, too)
		}
	}
	pods := []string{"Deployment statefulset-system/statefulset-apiserver"}
	if !single {
		pods = append(pods, "StatefulSet statefulset-system/statefulset-apiserver-etcd")
	}
	for _, name := range pods {
		containers, _, err := unstructured.NestedSlice(all[seen[name]].Object, "spec", "template", "spec", "containers")
		if err != nil {
			t.Fatal(err)
		}
		if got := containers[0].(map[string]any)["image"]; got != image {
			t.Errorf("image of %s: got %v, want %s", name, got, image)
		}
	}
	// The guard comes before what it guards is worth deleting, and the plugin knows it.
	if !slices.ContainsFunc(all, func(o *unstructured.Unstructured) bool { return o.GetName() == "statefulset-apiserver-protect" }) {
		t.Error("the guard against deletion is missing")
	}
}

// What a kustomization may have besides resources would silently be left out.
func TestAKustomizationThatDoesMoreIsRefused(t *testing.T) {
	manifests := fstest.MapFS{"base/kustomization.yaml": {Data: []byte("kind: Kustomization\nresources: []\nnamePrefix: x-\n")}}
	if _, err := read(manifests, "base"); err == nil || !strings.Contains(err.Error(), "namePrefix") {
		t.Errorf("got %v, want an error that names what is not understood", err)
	}
}

func TestFlagsThatMakeNoSense(t *testing.T) {
	for sentence, tc := range map[string]struct {
		image, dry, output string
		want               string
	}{
		"no image":            {"", "none", "yaml", "--image is not set"},
		"a dry run on a host": {"image", "server", "yaml", `--dry-run is "server"`},
		"another output":      {"image", "client", "json", `--output is "json"`},
		"no time":             {"image", "none", "yaml", "--timeout is 0s"},
	} {
		r := &run{image: tc.image}
		if err := r.complete(tc.dry, tc.output); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", sentence, err, tc.want)
		}
	}
}
