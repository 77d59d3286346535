// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned/fake"
)

// shop is a namespace with the set "web", whose controller removes a member a look.
type shop struct {
	sets    *fake.Clientset
	objects *metadatafake.FakeMetadataClient
	set     *v1.StatefulSet
	writes  []string
	// stuck keeps members from going.
	stuck bool
	// conflicts is how many writes come too late.
	conflicts int
	// meanwhile is what somebody does to the set when a write comes too late, or a member goes.
	meanwhile func(*v1.StatefulSet)
	out       bytes.Buffer
}

func open(t *testing.T, change ...func(*v1.StatefulSet)) *shop {
	t.Helper()
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "web-uid", ResourceVersion: "7", Generation: 1}}
	set.Spec.Replicas, set.Spec.Selector = new(int32(2)), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	for _, f := range change {
		f(set)
	}
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatalf("building a scheme: %v", err)
	}
	stray := podOf(set, 5)
	stray.OwnerReferences = nil
	s := &shop{set: set, sets: fake.NewSimpleClientset(),
		objects: metadatafake.NewSimpleMetadataClient(scheme, podOf(set, 0), podOf(set, 1), stray)}
	s.sets.PrependReactor("*", "statefulsets", s.serve)
	return s
}

func podOf(set *v1.StatefulSet, ordinal int) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: fmt.Sprintf("%s-%d", set.Name, ordinal), Labels: set.Spec.Selector.MatchLabels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, v1.GroupVersionKind())},
		},
	}
}

// serve is the server and the controller.
func (s *shop) serve(action clienttesting.Action) (bool, runtime.Object, error) {
	missing := apierrors.NewNotFound(v1.Resource("statefulsets"), action.(interface{ GetName() string }).GetName())
	if s.set == nil || missing.ErrStatus.Details.Name != s.set.Name {
		return true, nil, missing
	}
	if action.GetVerb() != "get" {
		s.writes = append(s.writes, action.GetVerb())
		if s.conflicts--; s.conflicts >= 0 {
			if s.meanwhile != nil {
				s.meanwhile(s.set)
			}
			return true, nil, apierrors.NewConflict(v1.Resource("statefulsets"), s.set.Name, nil)
		}
	}
	switch action := action.(type) {
	case clienttesting.PatchActionImpl:
		s.writes[len(s.writes)-1] += " " + string(action.Patch) + strings.Join(action.PatchOptions.DryRun, "")
		if set := s.set.DeepCopy(); len(action.PatchOptions.DryRun) > 0 {
			return true, set, nil
		}
		s.set.Spec.Replicas, s.set.Generation, s.set.ResourceVersion = new(int32(0)), 2, "8"
	case clienttesting.DeleteActionImpl:
		conditions := action.DeleteOptions.Preconditions
		text := fmt.Sprintf("%s %s%s", *conditions.UID, *action.DeleteOptions.PropagationPolicy, strings.Join(action.DeleteOptions.DryRun, ""))
		if conditions.ResourceVersion != nil {
			text += " " + *conditions.ResourceVersion
		}
		s.writes[len(s.writes)-1] += " " + text
		if len(action.DeleteOptions.DryRun) == 0 {
			s.set = nil
		}
		return true, nil, nil
	default:
		s.control()
	}
	return true, s.set.DeepCopy(), nil
}

// control removes the highest member of a set that is scaled to 0, and needs a look more to say
// that it has seen it.
func (s *shop) control() {
	if *s.set.Spec.Replicas > 0 || s.stuck {
		return
	}
	for ordinal := 1; ordinal >= 0; ordinal-- {
		if s.objects.Tracker().Delete(podKind(), "shop", fmt.Sprintf("web-%d", ordinal)) == nil {
			if s.meanwhile != nil {
				s.meanwhile(s.set)
			}
			return
		}
	}
	s.set.Status.ObservedGeneration, s.set.ResourceVersion = s.set.Generation, "9"
}

func podKind() schema.GroupVersionResource { return corev1.SchemeGroupVersion.WithResource("pods") }

func (s *shop) end(ctx context.Context, change func(*teardown), names ...string) error {
	t := &teardown{sets: s.sets, objects: s.objects, namespace: "shop", out: &s.out, propagation: metav1.DeletePropagationBackground,
		patience: 20 * time.Second}
	if change != nil {
		change(t)
	}
	return t.run(ctx, names)
}

const (
	scaling  = `patch {"metadata":{"resourceVersion":"7","uid":"web-uid"},"spec":{"replicas":0}}`
	deleting = "delete web-uid Background"
)

func protect(set *v1.StatefulSet) {
	set.Annotations = map[string]string{v1.ProtectAnnotation: "prod"}
}

func hold(set *v1.StatefulSet) {
	set.Annotations = map[string]string{v1.HoldAnnotation: "repair"}
}

func TestTearingASetDown(t *testing.T) {
	const prefix = "statefulset.apps.statefulset.dev/web: "
	for sentence, test := range map[string]struct {
		change []func(*v1.StatefulSet)
		as     func(*shop, *teardown)
		names  []string
		writes []string
		out    string // with the prefix of each line left out
		err    string
	}{
		"removes the members and then the set": {
			writes: []string{scaling, deleting + " 9"},
			out: "2 members: web-1, web-0\nscaled to 0\nweb-1 terminated, 1 left\nweb-0 terminated, 0 left\n" +
				`statefulset.apps.statefulset.dev "web" deleted from shop namespace`,
		},
		"foreground, deletes what else belongs to the set first": {
			as:     func(_ *shop, t *teardown) { t.propagation = metav1.DeletePropagationForeground },
			writes: []string{scaling, "delete web-uid Foreground 9"},
		},
		"that has no members left goes on": {
			change: []func(*v1.StatefulSet){func(set *v1.StatefulSet) { set.Spec.Replicas = new(int32(0)) }},
			writes: []string{deleting + " 9"},
		},
		"says in a dry run of the client what it would do": {
			as:  func(_ *shop, t *teardown) { t.dryRun = cmdutil.DryRunClient },
			out: "2 members: web-1, web-0\nscaled to 0 (dry run)\n" + `statefulset.apps.statefulset.dev "web" deleted from shop namespace (dry run)`,
		},
		"asks in a dry run of the server for both": {
			as:     func(_ *shop, t *teardown) { t.dryRun = cmdutil.DryRunServer },
			writes: []string{scaling + "All", "delete web-uid BackgroundAll"},
			out: "2 members: web-1, web-0\nscaled to 0 (server dry run)\n" +
				`statefulset.apps.statefulset.dev "web" deleted from shop namespace (server dry run)`,
		},
		"that is protected is refused": {
			change: []func(*v1.StatefulSet){protect},
			err:    `nothing was changed: set shop/web is protected ("prod"): remove annotation apps.statefulset.dev/protect first`,
		},
		"that is held is refused": {
			change: []func(*v1.StatefulSet){hold},
			err:    `nothing was changed: set shop/web is suspended ("repair"), so its members would stay: first remove annotation apps.statefulset.dev/hold`,
		},
		"that is on its way out is refused": {
			change: []func(*v1.StatefulSet){func(set *v1.StatefulSet) { set.DeletionTimestamp = new(metav1.Now()) }},
			err:    "nothing was changed: set shop/web is already being deleted, with or without its members",
		},
		"changes nothing if another one is missing": {
			names: []string{"web", "db"},
			err:   `nothing was changed: statefulsets.apps.statefulset.dev "db" not found`,
		},
		"passes over a missing one if it is to": {
			names: []string{"db", "web"}, as: func(_ *shop, t *teardown) { t.ignoreMissing = true },
			writes: []string{scaling, deleting + " 9"},
		},
		"tries again when its status has changed": {
			as: func(s *shop, _ *teardown) {
				s.conflicts, s.meanwhile = 1, func(set *v1.StatefulSet) { set.Status.ReadyReplicas++ }
			},
			writes: []string{"patch", scaling, deleting + " 9"},
		},
		"is refused when it has become another": {
			as: func(s *shop, _ *teardown) {
				s.conflicts, s.meanwhile = 1, func(set *v1.StatefulSet) { set.Generation++ }
			},
			writes: []string{"patch"},
			err:    "scaling set shop/web to 0: the set has changed in the meantime; check it, and run this again",
		},
		"ends when somebody scales it up": {
			as: func(s *shop, _ *teardown) {
				s.meanwhile = func(set *v1.StatefulSet) { set.Spec.Replicas = new(int32(3)) }
			},
			writes: []string{scaling},
			err:    "set shop/web was scaled to 3 in the meantime, so it was not deleted",
		},
		"ends when somebody holds it": {
			as:     func(s *shop, _ *teardown) { s.meanwhile = hold },
			writes: []string{scaling},
			err:    `the set stays scaled to 0 and was not deleted: set shop/web is suspended ("repair"), so its members would stay: first remove annotation apps.statefulset.dev/hold`,
		},
		"gives up in time, and says why it took so long": {
			change: []func(*v1.StatefulSet){func(set *v1.StatefulSet) {
				set.Status.ObservedGeneration = 2
				set.Status.Conditions = []v1.StatefulSetCondition{{Type: v1.StatefulSetReady, Message: "waiting for pod web-0"}}
			}},
			as:     func(s *shop, t *teardown) { s.stuck, t.patience = true, 200*time.Millisecond },
			writes: []string{scaling},
			out:    "2 members: web-1, web-0\nscaled to 0\nwaiting: waiting for pod web-0",
			err:    "timed out after 200ms, while set shop/web had 2 members: web-1, web-0; it stays scaled to 0 and was not deleted; run this again to continue. Last message: waiting for pod web-0",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := open(t, test.change...)
			if test.names == nil {
				test.names = []string{"web"}
			}
			err := s.end(t.Context(), func(t *teardown) {
				if test.as != nil {
					test.as(s, t)
				}
			}, test.names...)
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if !slices.Equal(s.writes, test.writes) {
				t.Errorf("got writes\n%q\nwant\n%q", s.writes, test.writes)
			}
			if got := strings.TrimSpace(strings.ReplaceAll(s.out.String(), prefix, "")); test.out != "" && got != test.out {
				t.Errorf("it said\n%s\nwant\n%s", got, test.out)
			}
		})
	}
}

func TestAnInterruptedTeardownSaysWhereItStands(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := open(t)
	s.meanwhile = func(*v1.StatefulSet) { cancel() }
	err := s.end(ctx, nil, "web")
	if want := "interrupted, while set shop/web had 1 members: web-0; it stays scaled to 0 and was not deleted; run this again to continue"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %q", err, want)
	}
}
