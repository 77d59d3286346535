//go:build migrate

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// described are a Secret of the set with a text that is drawn, and a ConfigMap of each member, which is
// deleted some time after that.
const described = `{"spec":{"objectTemplates":[
  {"name":"sst","scope":"Set","generate":[{"key":"password","bytes":24}],
   "object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"$(SET)-sst"}}},
  {"name":"conf","retention":{"whenScaled":"Delete","scaledAfterSeconds":1},
   "object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"},"data":{"id":"$(ORDINAL)"}}}]}}`

func TestASetWithObjectsIsMovedBackAndForth(t *testing.T) {
	t.Parallel()
	ns := movedWithObjects(t, 2)
	patchOurs(t, ns, described)
	first := waitObjects(t, ns, 2)
	before := look(t, ns)

	t.Run("it is not, unless its templates of objects are given up", func(t *testing.T) {
		expectRefusal(t, run{namespace: ns}, "apps/v1 does not have these fields of the set: spec.objectTemplates", "web", "--back")
	})
	out := migrate(t, ns, "web", "--back", "--drop-extra-fields")
	if want := "stays: the objects of spec.objectTemplates (Secret $(SET)-sst, ConfigMap $(IDENTITY)-conf)"; !strings.Contains(out, want) {
		t.Errorf("printed\n%s\nwant %q", out, want)
	}
	expectSame(t, "after the move back", before, look(t, ns))
	expectSame(t, "of objects after the move back", first, lookObjects(t, ns))

	migrate(t, ns, "web")
	expectSame(t, "of objects after the return", first, lookObjects(t, ns))
	patchOurs(t, ns, described)
	second := waitObjects(t, ns, 2)
	for name, was := range first {
		uid, _, _ := strings.Cut(was, " ")
		if is := second[name]; !strings.HasPrefix(is, uid) || is == was {
			t.Errorf("%s is %q, was %q; want the same, of the set that has returned", name, is, was)
		}
	}
	expectSame(t, "after the return", before, look(t, ns))
}

func TestASetWhoseTemplateNamesParametersIsNotMovedBack(t *testing.T) {
	t.Parallel()
	ns := movedWithObjects(t, 1)
	patchOurs(t, ns, `{"spec":{"identity":{},"objectTemplates":[{"name":"token","generate":[{"key":"token","bytes":24}],
	  "object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"$(IDENTITY)-token"}}}],
	  "template":{"spec":{"containers":[{"name":"main","env":[{"name":"TOKEN","valueFrom":{"secretKeyRef":{"name":"$(IDENTITY)-token","key":"token"}}}]}]}}}}`)
	waitOursReady(t, ns, 1, 1)
	expectRefusal(t, run{namespace: ns},
		`spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.name: Invalid value: "$(IDENTITY)-token": names $(IDENTITY): apps/v1 would use that as plain text`,
		"web", "--back", "--drop-extra-fields")
}

// lookObjects says of each object of the set which one it is and whose it says that it is, and of a Secret
// what was drawn. Nothing may own one.
func lookObjects(t *testing.T, ns string) snapshot {
	t.Helper()
	seen, options := snapshot{}, metav1.ListOptions{LabelSelector: v1.ObjectSetLabel + "=web"}
	secrets, err := suite.Host.CoreV1().Secrets(ns).List(t.Context(), options)
	if err != nil {
		t.Fatalf("listing Secrets: %v", err)
	}
	confs, err := suite.Host.CoreV1().ConfigMaps(ns).List(t.Context(), options)
	if err != nil {
		t.Fatalf("listing ConfigMaps: %v", err)
	}
	note := func(kind string, o metav1.Object, more string) {
		if len(o.GetOwnerReferences()) > 0 || o.GetDeletionTimestamp() != nil {
			t.Errorf("%s %s has the owners %v and is deleted at %v, want neither", kind, o.GetName(), o.GetOwnerReferences(),
				o.GetDeletionTimestamp())
		}
		seen[kind+" "+o.GetName()] = string(o.GetUID()) + more + " of " + o.GetAnnotations()[v1.OwnerAnnotation]
	}
	for i := range secrets.Items {
		note("Secret", &secrets.Items[i], string(secrets.Items[i].Data["password"]))
	}
	for i := range confs.Items {
		note("ConfigMap", &confs.Items[i], "")
	}
	return seen
}

// waitObjects waits until all objects are as our set describes them.
func waitObjects(t *testing.T, ns string, members int32) snapshot {
	t.Helper()
	harness.Eventually(t, "the objects of set web are as described", func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		told := set.Status.ObjectTemplates
		if set.Status.ObservedGeneration != set.Generation || len(told) != 2 || told[0].Updated != 1 || told[1].Updated != members {
			return fmt.Errorf("generation %d, status %+v", set.Generation, set.Status)
		}
		return nil
	})
	return lookObjects(t, ns)
}

// movedWithObjects moves a set of so many members to our group, where it may describe objects, and returns
// its namespace.
func movedWithObjects(t *testing.T, replicas int32) (ns string) {
	t.Helper()
	ns = namespace(t)
	suite.MayMake(t, []string{"configmaps", "secrets"}, "delete")
	create(t, ns, web(replicas))
	waitReady(t, ns, replicas, replicas)
	migrate(t, ns, "web")
	return ns
}
