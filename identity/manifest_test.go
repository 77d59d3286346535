// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/render"
)

// readings are what each part of the product understands of the manifest of a template: the kind of the
// objects, without version, and their name, as one text. A part that finds no kind has an empty text.
func readings(manifest string) map[string]string {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "1"}}
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "a", Retention: &v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType},
		Object: runtime.RawExtension{Raw: []byte(manifest)}}}
	told := map[string]string{"review": "", "render": "", "watch": "", "retention": ""}
	text := func(kind schema.GroupKind, name string) string {
		if kind.Kind == "" {
			return ""
		}
		return fmt.Sprintf("%s %q", kind, name)
	}
	name := ""
	if objects, wrong := OverridesOf(set).Objects(); wrong == nil {
		name = objects[0].Pattern()
		told["review"] = text(objects[0].Kind().GroupKind(), name)
		tree := objects[0].Manifest()
		version, _ := tree["apiVersion"].(string)
		kind, _ := tree["kind"].(string)
		metadata, _ := tree["metadata"].(map[string]any)
		made, _ := metadata["name"].(string)
		told["render"] = text(schema.FromAPIVersionAndKind(version, kind).GroupKind(), made)
	}
	if kinds := ObjectKinds(set); len(kinds) > 0 {
		told["watch"] = text(kinds[0].GroupKind(), name) // which needs no names
	}
	without := set.DeepCopy()
	without.Spec.ObjectTemplates = nil
	RecordRemovedTemplates(without, set, metav1.Time{Time: time.Unix(0, 0)})
	for _, removed := range RemovedTemplates(&without.Status) {
		told["retention"] = fmt.Sprintf("%s %q", removed.Kind, removed.ObjectName)
	}
	return told
}

// lenient is how a program reads a manifest that takes no notice of the case of keys. It returns false if
// it refuses it.
func lenient(manifest string) (string, bool) {
	var about struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(manifest), &about); err != nil || about.Kind == "" {
		return "", false
	}
	return fmt.Sprintf("%s %q", about.GroupVersionKind().GroupKind(), about.Metadata.Name), true
}

// expectOneReading wants all readers to agree on a manifest, and a reader that takes no notice of case to
// agree with them if the keys of the manifest are accepted.
func expectOneReading(t rapid.TB, manifest string) {
	t.Helper()
	told := readings(manifest)
	for who, got := range told {
		if got != told["render"] {
			t.Fatalf("manifest %q: %s reads %q, and render reads %q", manifest, who, got, told["render"])
		}
	}
	if render.CheckKeys([]byte(manifest), "") != nil || told["render"] == "" {
		return
	}
	if got, read := lenient(manifest); read && got != told["render"] {
		t.Fatalf("manifest %q with accepted keys: a lenient reader reads %q, and render reads %q", manifest, got, told["render"])
	}
}

func TestAllReadersAgreeOnTrickyManifests(t *testing.T) {
	for _, manifest := range trickyManifests() {
		expectOneReading(t, manifest)
	}
}

func trickyManifests() []string {
	return []string{
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"},"Kind":"Secret"}`,
		`{"Kind":"Secret","apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"}}`,
		`{"apiVersion":"v1","kind":"Secret","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"}}`,
		`{"apiVersion":"v1","APIVERSION":"batch/v1","kind":"Job","metadata":{"name":"$(IDENTITY)-a"}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a","Name":"b"}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"},"Metadata":{"name":"b"}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"},"metadata":{"labels":{}}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a","labels":5}}`,
		`{"apiVersion":"v1","kind":["ConfigMap"],"metadata":{"name":"$(IDENTITY)-a"}}`,
		`{"apiVersion":"a/b/c","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-a"}}`,
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"\u212aind\":\"Secret\",\"metadata\":{}}",
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"\\u006bind\":\"Secret\",\"metadata\":{}}",
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"a\xff\":1,\"a\xfe\":2,\"metadata\":{\"name\":\"\xff\"}}",
		`{"apiVersion":null,"kind":"ConfigMap","metadata":null}`,
		`null`, `[]`, `{}`, `"kind"`, ``, `{"kind":"A"`, `{"kind":"A"} {}`, `{"kind":1e999}`,
	}
}

// TestAllReadersAgreeOnAnyManifest draws JSON of the keys that matter, in several cases, several times and
// with values of all types, and some that is broken.
func TestAllReadersAgreeOnAnyManifest(t *testing.T) {
	refused, accepted := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		manifest := drawnObject(draw, 0)
		if draw(20) == 0 {
			at := draw(len(manifest))
			manifest = manifest[:at] + string([]byte{byte(draw(256))}) + manifest[at+1:]
		}
		expectOneReading(t, manifest)
		switch {
		case readings(manifest)["render"] == "":
		case render.CheckKeys([]byte(manifest), "") != nil:
			refused++
		default:
			accepted++
		}
	})
	if refused < 10 || accepted < 10 {
		t.Errorf("of the manifests with a kind, %d were refused and %d accepted, want at least 10 of each", refused, accepted)
	}
}

func drawnObject(draw func(n int) int, depth int) string {
	keys := []string{"kind", "apiVersion", "metadata", "name", "labels", "data", "spec", "other"}
	var fields []string
	if depth == 0 && draw(4) > 0 {
		fields = append(fields, `"apiVersion":"v1","kind":"ConfigMap"`)
	}
	for range draw(5) {
		key := keys[draw(len(keys))]
		switch draw(12) {
		case 0:
			key = strings.ToUpper(key[:1]) + key[1:]
		case 1:
			key = strings.ToUpper(key)
		case 2:
			key = fmt.Sprintf(`\u%04x`, key[0]) + key[1:]
		case 3:
			key = strings.Replace(key, "k", "\u212a", 1)
		}
		fields = append(fields, fmt.Sprintf(`"%s":%s`, key, drawnValue(draw, key, depth+1)))
	}
	if len(fields) > 1 {
		at := draw(len(fields)) // where the list is turned around
		fields = slices.Concat(fields[at:], fields[:at])
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func drawnValue(draw func(n int) int, key string, depth int) string {
	if depth == 1 && strings.EqualFold(key, "metadata") && draw(4) > 0 {
		return drawnObject(draw, depth)
	}
	if strings.EqualFold(key, "apiVersion") && draw(4) > 0 {
		return []string{`"v1"`, `"batch/v1"`, `"example.com/v1"`}[draw(3)]
	}
	switch draw(9) {
	case 0:
		return []string{"null", "true", "17", "-1.5e3", "12345678901234567890"}[draw(5)]
	case 1:
		if depth < 4 {
			return drawnObject(draw, depth)
		}
		return "[]"
	case 2:
		if depth < 4 {
			return "[" + drawnValue(draw, "other", depth+1) + "," + drawnValue(draw, "other", depth+1) + "]"
		}
		return `""`
	case 3:
		return "\"\xff\""
	default:
		return []string{`"Secret"`, `"ConfigMap"`, `"Pod"`, `"$(IDENTITY)-a"`, `"$(IDENTITY)-b"`}[draw(5)]
	}
}

// FuzzManifest: whatever a manifest is, all who read one agree on it.
func FuzzManifest(f *testing.F) {
	for _, manifest := range trickyManifests() {
		f.Add(manifest)
	}
	f.Fuzz(func(t *testing.T, manifest string) { expectOneReading(t, manifest) })
}
