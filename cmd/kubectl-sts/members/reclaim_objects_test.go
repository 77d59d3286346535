// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
)

// TestReclaimingObjects has a set that wants its first two members, and ConfigMaps of others: one says
// that it is that of an earlier set, one is controlled by somebody else, one is terminating, and two say
// that texts were drawn for them, of which a claim knows one.
func TestReclaimingObjects(t *testing.T) {
	for sentence, test := range map[string]struct {
		ordinals []int32
		as       func(*replacement)
		answer   bool
		writes   []string
		out, err string
	}{
		"deletes what nobody wants when it has asked": {ordinals: []int32{3}, answer: true, writes: []string{"delete web-3-conf uid-3 7"},
			out: "ConfigMap web-3-conf will be deleted\nDelete them? [y/N]"},
		"changes nothing without an agreement": {
			ordinals: []int32{3}, out: "ConfigMap web-3-conf will be deleted\nDelete them? [y/N] nothing was changed"},
		"deletes nothing in a dry run": {
			ordinals: []int32{3}, as: func(r *replacement) { r.dryRun = cmdutil.DryRunServer }, writes: []string{"delete web-3-conf uid-3 7All"},
			out: "ConfigMap web-3-conf will be deleted (server dry run)"},
		"leaves what is not the set's own": {
			ordinals: []int32{4, 5, 6}, answer: true, out: "the members have no objects to delete that are not already being deleted"},
		"leaves what has the name of a member": {
			ordinals: []int32{7}, answer: true, out: "the members have no objects to delete that are not already being deleted"},
		"leaves a generated Secret that a claim knows": {ordinals: []int32{3, 8}, answer: true, writes: []string{"delete web-3-conf uid-3 7"},
			out: "ConfigMap web-8-auth stays: claim www-web-8 may have data that needs it\nConfigMap web-3-conf will be deleted\nDelete them? [y/N]"},
		"deletes a generated Secret that no claim knows": {ordinals: []int32{9}, answer: true, writes: []string{"delete web-9-auth uid-9 7"},
			out: "ConfigMap web-9-auth will be deleted\nDelete them? [y/N]"},
		"refuses all if one is wanted": {ordinals: []int32{1, 3}, answer: true, err: "web-1 is a member of the set; nothing was deleted"},
		"refuses a member with a pod": {
			ordinals: []int32{2}, answer: true, err: "pod web-2 exists, so its objects cannot be deleted yet; nothing was deleted"},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newOffice(t)
			o.sets.PrependReactor("get", "statefulsets", func(clienttesting.Action) (bool, runtime.Object, error) {
				set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "web-uid"}}
				set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "conf",
					Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"}}`)}}}
				set.Spec.Replicas = new(int32(2))
				return true, set, nil
			})
			kinds := meta.NewDefaultRESTMapper(nil)
			kinds.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
			scheme := metadatafake.NewTestScheme()
			if err := metav1.AddMetaToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			objects := metadatafake.NewSimpleMetadataClient(scheme, left(2, "web-2-conf"), left(3, "web-3-conf"), left(7, "web-1-conf"),
				left(4, "web-4-conf", func(o *metav1.PartialObjectMetadata) { o.Annotations[v1.OwnerAnnotation] = "web/earlier" }),
				left(5, "web-5-conf", func(o *metav1.PartialObjectMetadata) {
					o.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "x", UID: "x", Controller: new(true)}}
				}),
				left(8, "web-8-auth", drawn), left(9, "web-9-auth", drawn),
				left(6, "web-6-conf", func(o *metav1.PartialObjectMetadata) {
					o.DeletionTimestamp, o.Finalizers = new(metav1.Now()), []string{"a/b"}
				}))
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
				Name: "www-web-8", Namespace: "shop", Annotations: map[string]string{v1.GeneratedAnnotation: "web-8-auth"}}}
			if err := o.host.Tracker().Add(claim); err != nil {
				t.Fatal(err)
			}
			objects.PrependReactor("delete", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
				deletion := action.(clienttesting.DeleteActionImpl)
				must := deletion.DeleteOptions.Preconditions
				o.writes = append(o.writes,
					fmt.Sprintf("delete %s %s %s%s", deletion.Name, *must.UID, *must.ResourceVersion, strings.Join(deletion.DeleteOptions.DryRun, "")))
				return true, nil, nil
			})
			r := &replacement{sets: o.sets, host: o.host, objects: objects, kinds: kinds, ofObjects: true, namespace: "shop", out: &o.out,
				set: "web", ordinals: test.ordinals,
				confirm: func(question string) (bool, error) { o.out.WriteString(question); return test.answer, nil }}
			if test.as != nil {
				test.as(r)
			}
			err := r.reclaim(t.Context())
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if !slices.Equal(o.writes, test.writes) {
				t.Errorf("got writes %q, want %q", o.writes, test.writes)
			}
			if got := strings.TrimSpace(strings.ReplaceAll(o.out.String(), "statefulset.apps.statefulset.dev/web: ", "")); got != test.out {
				t.Errorf("it said\n%s\nwant\n%s", got, test.out)
			}
		})
	}
}

// drawn has an object say that a text was drawn for it.
func drawn(o *metav1.PartialObjectMetadata) { o.Annotations[v1.GeneratedAnnotation] = "password" }

// left is the ConfigMap that the set has made for a member.
func left(ordinal int, name string, change ...func(*metav1.PartialObjectMetadata)) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: types.UID(fmt.Sprintf("uid-%d", ordinal)), ResourceVersion: "7",
		Labels:      map[string]string{v1.ObjectSetLabel: "web", v1.ObjectTemplateLabel: "conf", v1.ObjectOrdinalLabel: fmt.Sprint(ordinal)},
		Annotations: map[string]string{v1.OwnerAnnotation: "web/web-uid"},
	}}
	for _, f := range change {
		f(object)
	}
	return object
}
