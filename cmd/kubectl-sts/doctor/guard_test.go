// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestTheGuardIsLookedAt(t *testing.T) {
	type (
		policy  = admissionregistrationv1.ValidatingAdmissionPolicy
		binding = admissionregistrationv1.ValidatingAdmissionPolicyBinding
	)
	for sentence, c := range map[string]struct {
		change    func(*policy, *binding) (*policy, *binding)
		verdict   verdict
		says, fix string
	}{
		"in force": {func(p *policy, b *binding) (*policy, *binding) { return p, b }, fine, "is in force", ""},
		"no policy": {
			func(_ *policy, b *binding) (*policy, *binding) { return nil, b }, doubt, "is missing", "kubectl apply -k artifacts/protect"},
		"no binding": {
			func(p *policy, _ *binding) (*policy, *binding) { return p, nil }, doubt, "is missing", "kubectl apply -k artifacts/protect"},
		"a deleted policy": {func(p *policy, b *binding) (*policy, *binding) { p.DeletionTimestamp = new(metav1.Now()); return p, b }, doubt,
			"is being deleted", `"finalizers":null`},
		"a deleted binding": {func(p *policy, b *binding) (*policy, *binding) { b.DeletionTimestamp = new(metav1.Now()); return p, b }, doubt,
			"is being deleted", `"finalizers":null`},
		"no finalizer": {func(p *policy, b *binding) (*policy, *binding) { p.Finalizers = nil; return p, b }, doubt,
			"lacks the finalizer apps.statefulset.dev/protect", "kubectl apply"},
		"a warning, no denial": {
			func(p *policy, b *binding) (*policy, *binding) { b.Spec.ValidationActions = nil; return p, b }, doubt, "lacks Deny", "kubectl apply"},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := &policy{ObjectMeta: metav1.ObjectMeta{Name: "it", Finalizers: []string{guardFinalizer}}}
			b := &binding{ObjectMeta: metav1.ObjectMeta{Name: "it", Finalizers: []string{guardFinalizer}}}
			b.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
			p, b = c.change(p, b)
			got := protections()[0].judge("it", p, b)
			if got.verdict != c.verdict || !strings.Contains(got.message, c.says) || !strings.Contains(strings.Join(got.fix, "\n"), c.fix) {
				t.Errorf("got %q, %q and the commands %q, want %q, %q and %q", got.verdict, got.message, got.fix, c.verdict, c.says, c.fix)
			}
		})
	}
}

func TestNamespacesThatHangAreNamed(t *testing.T) {
	namespace := func(name, kind, message string) *corev1.Namespace {
		n := &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: name, DeletionTimestamp: new(metav1.Now()), Finalizers: []string{"kubernetes"}}}
		n.Status.Conditions = []corev1.NamespaceCondition{
			{Type: corev1.NamespaceConditionType(kind), Status: corev1.ConditionTrue, Message: message}}
		return n
	}
	const ours = "unable to retrieve the complete list of server APIs: apps.statefulset.dev/v1: the server is currently unable to handle the request"
	e := &examiner{host: fake.NewClientset(
		namespace("a", "NamespaceDeletionDiscoveryFailure", ours),
		namespace("b", "NamespaceDeletionDiscoveryFailure", "metrics.k8s.io/v1beta1: stale"),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "c"}},
	)}
	got := e.namespaces(t.Context())
	if len(got) != 1 || got[0].verdict != broken || !strings.HasSuffix(got[0].message, "answers again: a") ||
		!strings.Contains(strings.Join(got[0].fix, "\n"), "kubectl sts uninstall") {
		t.Errorf("got %+v, want a failure about namespace a alone, with what ends it", got)
	}
	e.host = fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "c"}})
	if got := e.namespaces(t.Context()); len(got) != 1 || got[0].verdict != fine {
		t.Errorf("got %+v, want that nothing hangs", got)
	}
}
