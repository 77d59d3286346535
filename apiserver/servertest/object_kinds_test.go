// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// thingTemplate is a template of objects of a kind with a number.
func thingTemplate(n int) v1.ObjectTemplate {
	return v1.ObjectTemplate{Name: fmt.Sprintf("t%d", n), Object: runtime.RawExtension{
		Raw: fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Thing%03d","metadata":{"name":"$(IDENTITY)-a"}}`, n)}}
}

// describingThings is a set with templates of kinds from the first to before the end.
func describingThings(name string, first, end int) *v1.StatefulSet {
	set := Web(name)
	for n := first; n < end; n++ {
		set.Spec.ObjectTemplates = append(set.Spec.ObjectTemplates, thingTemplate(n))
	}
	return set
}

func TestAllSetsTogetherDescribeAtMostAHundredKinds(t *testing.T) {
	server := Start(t)
	for first := 0; first < identity.MostObjectKinds; first += 10 {
		server.Create(t, describingThings(fmt.Sprintf("web-%d", first), first, first+10))
	}
	expect := func(sentence string, err error, at, kind, first int) {
		t.Helper()
		want := fmt.Sprintf(
			`spec.objectTemplates[%d].object.kind: Invalid value: "Thing%03d.example.com": all sets together may describe objects of at most 100 kinds; `+
				`use one of the 100 that they describe now, or remove the templates of one: Thing%03d.example.com, Thing%03d.example.com`, at, kind,
			first, first+1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", sentence, err, want)
		}
	}
	accept := func(sentence string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: got error %v, want none", sentence, err)
		}
	}
	create := func(set *v1.StatefulSet, dryRun ...string) error {
		_, err := server.Sets().Create(t.Context(), set, metav1.CreateOptions{DryRun: dryRun})
		return err
	}
	patch := func(kind types.PatchType, text string) error {
		_, err := server.Sets().Patch(t.Context(), "web-0", kind, []byte(text), metav1.PatchOptions{})
		return err
	}
	added := `[{"op":"add","path":"/spec/objectTemplates/-","value":{"name":"more","object":` + string(thingTemplate(100).Object.Raw) + `}}]`

	expect("a set with the 101st kind", create(describingThings("more", 100, 101)), 0, 100, 0)
	expect("a set with the 101st kind in a dry run", create(describingThings("more", 100, 101), metav1.DryRunAll), 0, 100, 0)
	expect("a set with the 101st kind behind others", create(describingThings("more", 98, 101)), 2, 100, 0)
	expect("a template of the 101st kind in a set that exists", patch(types.JSONPatchType, added), 10, 100, 0)
	accept("a set with kinds that others have", create(describingThings("more", 84, 100)))
	accept("a set without objects", create(Web("none")))
	accept("a set with ten kinds is scaled", patch(types.MergePatchType, `{"spec":{"replicas":7}}`))
	accept("one of ten kinds is removed", patch(types.JSONPatchType, `[{"op":"remove","path":"/spec/objectTemplates/0"}]`))

	server.Eventually(t, "the place of a kind that no set describes is free", func(context.Context) error {
		return patch(types.JSONPatchType, added)
	})
	expect("the next kind after that", create(describingThings("last", 101, 102)), 0, 101, 1)
	if err := server.Sets().Delete(t.Context(), "web-10", metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting a set: %v", err)
	}
	server.Eventually(t, "the places of the kinds of a deleted set are free", func(context.Context) error {
		return create(describingThings("last", 101, 102))
	})
}

// TestManyWritesAtOnceDescribeAtMostAHundredKinds has 40 clients add five kinds each at once.
func TestManyWritesAtOnceDescribeAtMostAHundredKinds(t *testing.T) {
	server := Start(t)
	const clients, each = 40, 5
	answers := make(chan error, clients)
	for n := range clients {
		go func() {
			_, err := server.Sets().Create(t.Context(), describingThings(fmt.Sprintf("web-%d", n), n*each, (n+1)*each), metav1.CreateOptions{})
			answers <- err
		}()
	}
	accepted := 0
	for range clients {
		if err := <-answers; err == nil {
			accepted++
		} else if !strings.Contains(err.Error(), "at most 100 kinds") {
			t.Errorf("got error %v, want one that names the limit", err)
		}
	}
	if accepted == 0 || accepted > identity.MostObjectKinds/each {
		t.Errorf("of %d sets with %d kinds each %d were accepted, want some, and at most %d", clients, each, accepted,
			identity.MostObjectKinds/each)
	}
}
