// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	root      = "../.."
	published = root + "/openapi/v3/apps.statefulset.dev_v1.json"
	committed = root + "/openapi/schemas"
)

func reading(t *testing.T) document {
	t.Helper()
	d, err := read(published)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEveryManifestIsAsItsSchemaSays(t *testing.T) {
	var files []string
	for _, pattern := range []string{"artifacts/examples/*.yaml", "artifacts/argocd/apps.statefulset.dev/StatefulSet/testdata/*.yaml"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	var out strings.Builder
	if err := check(committed, files, &out); err != nil {
		t.Error(err)
	}
	if len(files) < 14 || strings.HasPrefix(out.String(), "sdk: 0 ") {
		t.Errorf("got %q of %d files, want sets in at least 14", out.String(), len(files))
	}
}

func TestWhatIsWrongIsFoundByTheSchema(t *testing.T) {
	const good = "apiVersion: apps.statefulset.dev/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec:\n  selector: {}\n  serviceName: a\n" +
		"  template: {spec: {containers: [{name: a, ports: [{containerPort: 80}], resources: {requests: {cpu: 1, memory: 1Gi}}}]}}\n"
	for sentence, c := range map[string]struct{ old, new, want string }{
		"a good one passes":               {"name: a", "name: a", ""},
		"a misspelt field":                {"  serviceName: a", "  serviceNames: a", "serviceNames"},
		"a misspelt field of a container": {"name: a, ports", "name: a, port: 1, ports", "port"},
		"another type":                    {"containerPort: 80", "containerPort: http", "want integer"},
		"a list in place of an object":    {"selector: {}", "selector: []", "got array, want object"},
		"a value that there is not":       {"  selector: {}", "  selector: {}\n  podManagementPolicy: Some", "Parallel"},
		"no spec":                         {"spec:", "status:", "spec"},
		"a kind that there is not":        {"kind: StatefulSet", "kind: DaemonSet", "no schema"},
	} {
		file := filepath.Join(t.TempDir(), "set.yaml")
		if err := os.WriteFile(file, []byte(strings.Replace(good, c.old, c.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		err := check(committed, []string{file}, io.Discard)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got error %v, want %q", sentence, err, c.want)
		}
	}
}

func TestABreakIsFoundAndHasToBeSaid(t *testing.T) {
	const set, path = "dev.statefulset.apps.v1.StatefulSetSpec", "/apis/apps.statefulset.dev/v1/namespaces/{namespace}/statefulsets/{name}"
	spec := func(d document) object { return at(d.schemas(), set) }
	for sentence, c := range map[string]struct {
		change func(d document)
		want   string
	}{
		"nothing":              {func(document) {}, ""},
		"a new optional field": {func(d document) { at(spec(d), "properties")["new"] = object{"type": "string"} }, ""},
		"a new value of an enum": {func(d document) {
			f := at(spec(d), "properties", "podManagementPolicy")
			f["enum"] = append(f["enum"].([]any), "New")
		}, ""},
		"a new schema":         {func(d document) { d.schemas()["New"] = object{} }, ""},
		"a field that is gone": {func(d document) { delete(at(spec(d), "properties"), "replicas") }, "StatefulSetSpec.replicas: was removed"},
		"a field of another type": {func(d document) { at(spec(d), "properties", "replicas")["type"] = "string" },
			"StatefulSetSpec.replicas: was integer int32, is string int32"},
		"a field that is required now": {
			func(d document) { spec(d)["required"] = append(spec(d)["required"].([]any), "replicas") }, "StatefulSetSpec.replicas: is required"},
		"a value that is gone": {func(d document) { at(spec(d), "properties", "podManagementPolicy")["enum"] = []any{"Parallel"} },
			"StatefulSetSpec.podManagementPolicy: value OrderedReady was removed"},
		"another type of items": {func(d document) {
			at(spec(d), "properties", "volumeClaimTemplates")["items"] = object{"type": "string"}
		}, "StatefulSetSpec.volumeClaimTemplates: was PersistentVolumeClaim, is string"},
		"a schema that is gone":     {func(d document) { delete(d.schemas(), set) }, "StatefulSetSpec: was removed"},
		"an operation that is gone": {func(d document) { delete(at(d.paths(), path), "delete") }, "DELETE " + path + ": was removed"},
		"an operation of another name": {func(d document) { at(d.paths(), path, "get")["operationId"] = "get" },
			"GET " + path + ": operation was readAppsStatefulsetDevV1NamespacedStatefulSet, is get"},
		"a kind of patch that is gone": {func(d document) {
			delete(at(d.paths(), path, "patch", "requestBody", "content"), "application/json-patch+json")
		}, "PATCH " + path + ": application/json-patch+json is not accepted any more"},
		"a parameter that is gone": {
			func(d document) { at(d.paths(), path, "patch")["parameters"] = []any{} }, "PATCH " + path + ": parameter dryRun was removed"},
		"an answer of another type": {func(d document) {
			at(d.paths(), path, "get", "responses", "200", "content", "application/json")["schema"] = object{"type": "string"}
		}, "GET " + path + ": answer 200 was StatefulSet, is string"},
		"a new parameter that is required": {func(d document) {
			at(d.paths(), path, "put")["parameters"] = append(at(d.paths(), path, "put")["parameters"].([]any),
				object{"name": "new", "required": true})
		}, "PUT " + path + ": parameter new is required"},
	} {
		after := reading(t)
		c.change(after)
		found := breaking(reading(t), after)
		if c.want == "" && len(found) > 0 || c.want != "" && !slices.Contains(found, c.want) {
			t.Errorf("%s: got %q, want %q", sentence, found, c.want)
		}
	}
}

func TestABreakIsExplainedInTheFirstSection(t *testing.T) {
	const one = "StatefulSetSpec.replicas: was removed"
	for sentence, c := range map[string]struct {
		text string
		left bool
	}{
		"nothing is said":         {"# Changelog\n\n## Unreleased\n\n- Faster.\n", true},
		"it is said":              {"# Changelog\n\n## Unreleased\n\n- Breaking: `StatefulSetSpec.replicas` is\n  gone.\n", false},
		"another break is said":   {"# Changelog\n\n## Unreleased\n\n- Breaking: `StatefulSetSpec.replica` is gone.\n", true},
		"it is no break in words": {"# Changelog\n\n## Unreleased\n\n- `StatefulSetSpec.replicas` is gone.\n", true},
		"an earlier release says": {"# Changelog\n\n## Unreleased\n\n## v1\n\n- Breaking: `StatefulSetSpec.replicas` is gone.\n", true},
	} {
		file := filepath.Join(t.TempDir(), "CHANGELOG.md")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := unexplained([]string{one}, file); (err != nil) != c.left {
			t.Errorf("%s: got error %v, want one: %t", sentence, err, c.left)
		}
	}
}

func TestGeneratorsGetWhatTheyCanRead(t *testing.T) {
	for language, wantOneOf := range map[string]bool{"typescript": true, "python": false, "java": false} {
		d := reading(t)
		if err := d.prepare(language); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			word string
			want bool
		}{
			{`"V1StatefulSetSpec"`, true}, {`"operationId":"patchNamespacedStatefulSet"`, true}, {`"oneOf"`, wantOneOf}, {`"default":{}`, false},
			{`/watch/`, false}, {`"*/*"`, false}, {`application/vnd.kubernetes.protobuf`, false}, {`dev.statefulset.apps`, false},
		} {
			if got := strings.Contains(string(text), c.word); got != c.want {
				t.Errorf("%s: has %s: got %t, want %t", language, c.word, got, c.want)
			}
		}
		walk(object(d), func(o object) {
			if name := target(o); name != "" && d.schemas()[name] == nil {
				t.Errorf("%s: nothing is named %s", language, name)
			}
		})
	}
	if err := reading(t).prepare("cobol"); err == nil || !strings.Contains(err.Error(), "java, python, typescript") {
		t.Errorf("another language: got error %v, want the ones that there are", err)
	}
}

// TestLicencesOfPackagesAreKnown reads what npm installs for the client of TypeScript. What is not among those of
// our own releases belongs to the official client, and is not in what we publish.
func TestLicencesOfPackagesAreKnown(t *testing.T) {
	text, err := os.ReadFile(root + "/sdk/typescript/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ License, Integrity string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	known := []string{"Apache-2.0", "MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "(MIT OR CC0-1.0)", "Unlicense", "Python-2.0"}
	for name, p := range lock.Packages {
		if !slices.Contains(known, p.License) {
			t.Errorf("%q: got licence %q, want one of %q", name, p.License, known)
		}
		if name != "" && p.Integrity == "" {
			t.Errorf("%q: got no checksum, want one", name)
		}
	}
	if len(lock.Packages) < 10 {
		t.Errorf("got %d packages, want at least 10", len(lock.Packages))
	}
}
