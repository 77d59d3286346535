// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	v1 "statefulset.dev/api/apps/v1"
)

// objectOf is a template of objects with a manifest in YAML.
func objectOf(t *testing.T, of Source, template v1.ObjectTemplate, manifest string) *Object {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	template.Object = runtime.RawExtension{Raw: raw}
	o, wrong := NewObject(of, &template, "objectTemplates[0]")
	if wrong != nil {
		t.Fatal(wrong)
	}
	return o
}

const (
	unknownHere = " is not a parameter here, and is not replaced; parameters here are "
	noService   = unknownHere + "IDENTITY, NAMESPACE, ORDINAL, REPLICAS, SET"
)

func TestUnknownNamesInManifests(t *testing.T) {
	job := func(container string) string {
		return "{kind: Job, spec: {template: {spec: {containers: [" + container + "]}}}}"
	}
	const at = "spec.objectTemplates[0].object."
	for sentence, test := range map[string]struct {
		scope    v1.ObjectScope
		manifest string
		want     []string
	}{
		"none of what is known, or no name of one": {manifest: "{data: {a: '$(IDENTITY) $(ordinal) $ORDINL $(9)'}}"},
		"one that is misspelt, once a place": {manifest: "{data: {a: '$(ORDINL) $(ORDINL)', b: '$(ORDINL)'}}",
			want: []string{at + "data.a: $(ORDINL)" + noService, at + "data.b: $(ORDINL)" + noService}},
		"one that needs a Service": {
			manifest: "{spec: {dnsNames: ['$(DNS_NAME)']}}", want: []string{at + "spec.dnsNames[0]: $(DNS_NAME)" + noService}},
		"that of a member, in an object of the set": {scope: v1.SetObjectScope, manifest: "{data: {a: '$(IDENTITY)'}}",
			want: []string{at + "data.a: $(IDENTITY)" + unknownHere + "NAMESPACE, REPLICAS, SET"}},
		"none that is quoted":               {manifest: "{data: {a: '$$(ORDINL) $$$(ORDINL)'}}"},
		"none of what is no text, or a key": {manifest: "{binaryData: {a: '$(ORDINL)'}, data: {'$(ORDINL)': a}}"},
		"one in the annotations": {
			manifest: "{metadata: {annotations: {a.b/c: '$(ORDINL)'}}}", want: []string{at + "metadata.annotations[a.b/c]: $(ORDINL)" + noService}},
		"one in a container": {
			manifest: job("{args: ['$(MINE)']}"), want: []string{at + "spec.template.spec.containers[0].args[0]: $(MINE)" + noService}},
		"none that is a variable of the container":  {manifest: job("{args: ['$(MINE)'], env: [{name: MINE, value: a}]}")},
		"none that may be one of the container":     {manifest: job("{args: ['$(MINE)'], envFrom: [{secretRef: {name: a}}]}")},
		"none that the kubelet gives for a Service": {manifest: job("{args: ['$(WEB_SERVICE_HOST)']}")},
		"one that is a variable of another": {manifest: job("{args: ['$(MINE)']}, {env: [{name: MINE, value: a}]}"),
			want: []string{at + "spec.template.spec.containers[0].args[0]: $(MINE)" + noService}},
		"some of many": {manifest: "{data: {a: '$(A) $(B) $(C) $(D)'}}",
			want: []string{at + "data.a: $(A)" + noService, at + "data.a: $(B)" + noService, at + "data.a: $(C)" + noService}},
		"what is written where a container is to be": {
			manifest: "{spec: {containers: [a, '$(X)'], env: a, envFrom: {b: c}}}", want: []string{at + "spec.containers[1]: $(X)" + noService}},
	} {
		t.Run(sentence, func(t *testing.T) {
			of := source(v1.MemberIdentity{})
			of.Identity, of.ServiceName, of.Outputs = nil, "", []string{"ADDRESS"}
			got := objectOf(t, of, v1.ObjectTemplate{Scope: test.scope}, test.manifest).Unknown(3)
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestUnknownNamesInClaimTemplates(t *testing.T) {
	claim := read[corev1.PersistentVolumeClaim](t,
		"metadata: {name: $(NAME), annotations: {a: '$(ORDINAL) $$(ORDINL)'}, labels: {b: $(ORDINL)}}\nspec: {volumeName: pv-$(NODE)-$(SIZE)}")
	got := New(source(v1.MemberIdentity{Values: map[string]string{"SIZE": "1"}})).UnknownInClaim(2, claim, 5)
	const are = unknownHere + "DNS_NAME, IDENTITY, NAMESPACE, ORDINAL, SERVICE, SET, SIZE"
	want := []string{
		"spec.volumeClaimTemplates[2].metadata.labels[b]: $(ORDINL)" + are, "spec.volumeClaimTemplates[2].spec.volumeName: $(NODE)" + are}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// FuzzUnknown: whatever a manifest holds, what is told of it is bounded.
func FuzzUnknown(f *testing.F) {
	for _, manifest := range []string{`{}`, `{"data":{"a":"$(X) $(Y) $(Z) $$(Z)"}}`,
		`{"containers":[{"args":["$(X)"],"env":[1,{"name":2}]},[["$(X)"]]]}`, `{"a":{"env":{},"b":"$(X)"}}`} {
		f.Add([]byte(manifest))
	}
	f.Fuzz(func(t *testing.T, manifest []byte) {
		o, wrong := NewObject(source(v1.MemberIdentity{}), &v1.ObjectTemplate{Object: runtime.RawExtension{Raw: manifest}}, "objectTemplates[0]")
		if wrong != nil {
			return
		}
		for _, text := range o.Unknown(2) {
			if len(text) > len(manifest)+500 {
				t.Fatalf("got %d bytes of %d: %s", len(text), len(manifest), text)
			}
		}
		if n := len(o.Unknown(2)); n > 2 {
			t.Fatalf("got %d texts, want at most 2", n)
		}
	})
}
