// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
)

const longRefused = 10 * time.Minute

// A host refuses member 2 of a set for ten minutes, and then something makes it accept the member.
func TestWhatTheHostWouldAcceptIsTriedAtOnce(t *testing.T) {
	name := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	options, updates := metav1.CreateOptions{}, metav1.UpdateOptions{}
	for sentence, test := range map[string]struct {
		refusal string
		// accepts is the change after which the host accepts the member.
		accepts func(ctx context.Context, host kubernetes.Interface, sets versioned.Interface) error
		within  time.Duration
	}{
		"the spec changes": {"a policy denied it", func(ctx context.Context, _ kubernetes.Interface, sets versioned.Interface) error {
			set, err := sets.AppsV1().StatefulSets("shop").Get(ctx, "web", metav1.GetOptions{})
			if err != nil {
				return err
			}
			set = set.DeepCopy()
			set.Spec.Template.Spec.Containers[0].Image, set.Generation, set.ResourceVersion = "nginx:good", set.Generation+1, "1000000"
			_, err = sets.AppsV1().StatefulSets("shop").Update(ctx, set, updates)
			return err
		}, 100 * time.Millisecond},
		"a policy goes": {"a policy denied it", func(ctx context.Context, host kubernetes.Interface, _ versioned.Interface) error {
			return host.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, "images", metav1.DeleteOptions{})
		}, 2 * time.Second},
		"a binding changes": {"a policy denied it", func(ctx context.Context, host kubernetes.Interface, _ versioned.Interface) error {
			binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: name("images")}
			binding.Generation = 2
			_, err := host.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Update(ctx, binding, updates)
			return err
		}, 2 * time.Second},
		"a webhook goes": {"failed calling webhook", func(ctx context.Context, host kubernetes.Interface, _ versioned.Interface) error {
			return host.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(ctx, "images", metav1.DeleteOptions{})
		}, 2 * time.Second},
		"a namespace gets another label": {
			`violates PodSecurity "restricted"`, func(ctx context.Context, host kubernetes.Interface, _ versioned.Interface) error {
				namespace := &corev1.Namespace{ObjectMeta: name("shop")}
				namespace.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "baseline"}
				_, err := host.CoreV1().Namespaces().Update(ctx, namespace, updates)
				return err
			}, 2 * time.Second},
		"a limit changes": {
			"maximum cpu usage per Container is 1", func(ctx context.Context, host kubernetes.Interface, _ versioned.Interface) error {
				limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "limits", ResourceVersion: "2"}}
				_, err := host.CoreV1().LimitRanges("shop").Update(ctx, limits, updates)
				return err
			}, 2 * time.Second},
		"a service account comes": {`error looking up service account shop/web: serviceaccount "web" not found`,
			func(ctx context.Context, host kubernetes.Interface, _ versioned.Interface) error {
				_, err := host.CoreV1().ServiceAccounts("shop").Create(ctx, &corev1.ServiceAccount{ObjectMeta: name("web")}, options)
				return err
			}, 2 * time.Second},
		"a priority class comes": {
			"no PriorityClass with name high was found", func(ctx context.Context, host kubernetes.Interface, _ versioned.Interface) error {
				_, err := host.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{ObjectMeta: name("high")}, options)
				return err
			}, 2 * time.Second},
		"a webhook changes its answer, without an event": {"denied the request",
			func(context.Context, kubernetes.Interface, versioned.Interface) error { return nil }, longestBackoff + time.Second},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := startLimitedTerm(t, 100, parallelSet("web", 5),
					&corev1.Namespace{ObjectMeta: name("shop")},
					&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "limits", ResourceVersion: "1"}},
					&admissionv1.ValidatingAdmissionPolicy{ObjectMeta: name("images")},
					&admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: name("images")},
					&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: name("images")})
				refused := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-2", errors.New(test.refusal))
				host.refusing(map[string]error{"web-2": refused})
				time.Sleep(longRefused)
				if created, tries := host.counts(); created != 4 || tries > 40 {
					t.Fatalf("while web-2 is refused: got %d pods and %d tries, want 4 and at most 40", created, tries)
				}
				host.refusing(nil)
				if err := test.accepts(t.Context(), host.client, host.sets); err != nil {
					t.Fatalf("doing it: %v", err)
				}
				began := time.Now()
				eventually(t, "web-2 exists", func() bool { created, _ := host.counts(); return created >= 5 })
				if took := time.Since(began); took > test.within {
					t.Errorf("web-2 came after %s, want it within %s", took, test.within)
				}
			})
		})
	}
}

// A host refuses one member for ten minutes. Another that is deleted comes back at once, and the status
// names what was tried.
func TestARefusedMemberDoesNotDelayAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := startLimitedTerm(t, 100, parallelSet("web", 3))
		host.refusing(
			map[string]error{"web-2": apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-2", errors.New("image is not signed"))})
		time.Sleep(longRefused)
		pods := host.client.CoreV1().Pods("shop")
		if err := pods.Delete(t.Context(), "web-0", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		eventually(t, "web-0 is back", func() bool {
			_, err := pods.Get(t.Context(), "web-0", metav1.GetOptions{})
			return err == nil
		})
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("web-0 came back after %s, want it within 2s", took)
		}
		set, err := host.sets.AppsV1().StatefulSets("shop").Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		tried := host.lastRefusal()
		want := fmt.Sprintf("(tried at %s, next at %s)", tried.UTC().Format(time.RFC3339), tried.Add(longestBackoff).UTC().Format(time.RFC3339))
		at := slices.IndexFunc(set.Status.Conditions, func(c v1.StatefulSetCondition) bool { return c.Type == v1.StatefulSetStalled })
		got := set.Status.Conditions[at].Message
		if !strings.HasPrefix(got, "could not create pod web-2 at ") || !strings.Contains(got, "image is not signed") ||
			!strings.HasSuffix(got, want) {
			t.Errorf("got message %q, want it to name web-2, %q and no other member", got, want)
		}
	})
}

// startRefused starts a term with sets of one member each whose pods a policy refuses, on a host with room for
// so many pods. release deletes the policy, and returns when.
func startRefused(t *testing.T, sets, room int) (host *limitedHost, release func() time.Time) {
	t.Helper()
	all := make([]runtime.Object, 0, sets)
	for i := range sets {
		all = append(all, parallelSet(fmt.Sprintf("web-%d", i), 1))
	}
	var over atomic.Bool
	host = startLimitedTermOf(t, room, all, &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "images"}})
	host.mu.Lock()
	defer host.mu.Unlock()
	host.refuses = func(name string) error {
		if over.Load() {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, name, errors.New("a policy denied it"))
	}
	return host, func() time.Time {
		over.Store(true)
		if err := host.client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(t.Context(), "images",
			metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		return time.Now()
	}
}

// A policy refuses many sets, and goes. All have their pods soon after, and the host is not
// asked again and again meanwhile.
func TestManySetsThatWereRefusedShareTheHost(t *testing.T) {
	const sets = 200
	synctest.Test(t, func(t *testing.T) {
		host, release := startRefused(t, sets, sets)
		time.Sleep(3 * time.Minute)
		created, before := host.counts()
		time.Sleep(longestBackoff)
		_, after := host.counts()
		if asked := after - before; created != 0 || asked > sets+sets/10 {
			t.Fatalf("while all are refused: got %d pods and %d tries in a minute, want none and one for each set", created, asked)
		}
		began := release()
		eventually(t, "all have their pods", func() bool { created, _ := host.counts(); return created == sets })
		t.Logf("%d sets had their pods after %s", sets, time.Since(began))
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%d sets had their pods after %s, want it within 10s", sets, took)
		}
	})
}

// A policy goes that has refused ten thousand sets. None waits for much longer than the host needs for
// all, and a set that is created right after that waits no longer than the others.
func TestSetsThatAreReleasedAtOnceLeaveOthersTheirShare(t *testing.T) {
	const sets = 10_000
	synctest.Test(t, func(t *testing.T) {
		host, release := startRefused(t, sets, sets+1)
		eventually(t, "all were refused", func() bool { _, refused := host.counts(); return refused >= sets })
		released := release()
		if _, err := host.sets.AppsV1().StatefulSets("shop").Create(t.Context(), parallelSet("late", 1), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		var late, took time.Duration
		eventually(t, "all have their pods", func() bool {
			_, err := host.client.CoreV1().Pods("shop").Get(t.Context(), "late-0", metav1.GetOptions{})
			if err == nil && late == 0 {
				late = time.Since(released)
			}
			created, _ := host.counts()
			took = time.Since(released)
			return created == sets+1 && late > 0
		})
		t.Logf("%d sets had their pods after %s, and the one that came last after %s", sets, took, late)
		if late > took || took > 10*time.Second {
			t.Errorf("the set that came last had its pod after %s, and all %d others after %s; want it no later than them, and them within 10s",
				late, sets, took)
		}
	})
}

// What changes all the time is no reason to ask the host all the time.
func TestChangesAreNoReasonToAskMoreThanOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := startLimitedTerm(t, 100, parallelSet("web", 3),
			&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "limits"}})
		host.refusing(map[string]error{"web-2": apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-2", errors.New("a limit"))})
		time.Sleep(longRefused)
		_, before := host.counts()
		for change := range 1000 {
			limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "limits", ResourceVersion: fmt.Sprint(change)}}
			if _, err := host.client.CoreV1().LimitRanges("shop").Update(t.Context(), limits, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if _, after := host.counts(); after-before > 400 || after-before < 50 {
			t.Errorf("got %d tries in 100s of changes, want between 50 and 400", after-before)
		}
	})
}

func TestChangesAreForgotten(t *testing.T) {
	const many = 10_000
	changes, now := newChanges(fake.NewClientset()), time.Now()
	for i := range many {
		changes.record(0, fmt.Sprintf("other-%d", i), now)
	}
	changes.record(0, "shop", now.Add(changesKept))
	if got := len(changes.last); got != 1 {
		t.Errorf("got %d changes remembered, want 1", got)
	}
	answer := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-2", errors.New("a policy denied it"))
	for namespace, want := range map[string]bool{"shop": true, "other-0": false} {
		if got := changes.hasChangedSince(answer, namespace, now); got != want {
			t.Errorf("has something changed in namespace %s: got %t, want %t", namespace, got, want)
		}
	}
}

// An informer keeps of what decides no more than is compared.
func TestOfWhatDecidesLittleIsKept(t *testing.T) {
	all := influencingKinds(fake.NewClientset())
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "images", Generation: 3, Annotations: map[string]string{"a": "b"}}}
	kept, ok := all[0].trim(policy).(*influencingObject)
	if !ok || kept.Name != "images" || kept.Generation != 3 || kept.Annotations != nil {
		t.Errorf("got %+v, want the name and the generation alone", kept)
	}
	if key, err := cache.MetaNamespaceKeyFunc(kept); err != nil || key != "images" {
		t.Errorf("got key %q and error %v, want images", key, err)
	}
}
