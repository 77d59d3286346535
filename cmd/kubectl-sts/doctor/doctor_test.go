// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "statefulset.dev/api/apps/v1"
)

func TestDiagnose(t *testing.T) {
	condition := func(kind v1.StatefulSetConditionType, status corev1.ConditionStatus, reason, message string) v1.StatefulSetCondition {
		return v1.StatefulSetCondition{Type: kind, Status: status, Reason: reason, Message: message}
	}
	tests := map[string]struct {
		seen       int64
		conditions []v1.StatefulSetCondition
		ready      bool
		verdict    verdict
		says, fix  string
	}{
		"a ready set needs nothing": {
			seen: 2, conditions: []v1.StatefulSetCondition{
				condition(v1.StatefulSetReady, corev1.ConditionTrue, v1.ReasonMembersAvailable, "3 of 3")}, ready: true,
		},
		"a set that the controller has not seen is a doubt": {
			seen: 1, verdict: doubt, says: "has not observed its current spec", fix: "kubectl sts doctor"},
		"a refused set fails with what the host says": {
			seen: 2, verdict: broken, says: "HostRefused: exceeded quota", fix: "kubectl -n shop get resourcequota,limitrange",
			conditions: []v1.StatefulSetCondition{
				condition(v1.StatefulSetReady, corev1.ConditionFalse, v1.ReasonHostRefused, "exceeded quota"),
				condition(v1.StatefulSetStalled, corev1.ConditionTrue, v1.ReasonHostRefused, "exceeded quota"),
			},
		},
		"a held set says how it is released": {
			seen: 2, verdict: doubt, says: "Held: migration",
			fix:        "kubectl -n shop annotate statefulset.apps.statefulset.dev/db apps.statefulset.dev/hold-",
			conditions: []v1.StatefulSetCondition{condition(v1.StatefulSetReady, corev1.ConditionFalse, v1.ReasonHeld, "migration")},
		},
		"a set without conditions is a doubt": {seen: 2, verdict: doubt, says: "no such condition", fix: "kubectl sts -n shop tree db"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db", Generation: 2}}
			set.Status.ObservedGeneration, set.Status.Conditions = test.seen, test.conditions
			got, ready := diagnose(set)
			if ready != test.ready || got.verdict != test.verdict {
				t.Fatalf("got ready %v and verdict %q, want %v and %q", ready, got.verdict, test.ready, test.verdict)
			}
			if !strings.Contains(got.message, test.says) {
				t.Errorf("got %q, want it to say %q", got.message, test.says)
			}
			if !strings.Contains(strings.Join(got.fix, "\n"), test.fix) {
				t.Errorf("got the commands %q, want one with %q", got.fix, test.fix)
			}
		})
	}
}

func TestClaimsThatCouldNotBeDeletedAreADoubt(t *testing.T) {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}}
	set.Status.Reclaims = []v1.Reclaim{{First: 3, Last: new(int32(4)), Message: "claims of ordinals 3-4 are due"}, {First: 1},
		{First: 7, Message: "claims of ordinal 7 are due"}}
	found := undeleted(set)
	if len(found) != 2 || found[0].verdict != doubt || found[0].message != "claims of ordinals 3-4 are due" {
		t.Fatalf("got %+v, want two doubts, the first of which says what the status does", found)
	}
	for i, want := range []string{"kubectl sts -n shop reclaim db --ordinals=3-4 ", "kubectl sts -n shop reclaim db --ordinals=7 "} {
		if !strings.HasPrefix(found[i].fix[0], want) {
			t.Errorf("got the command %q, want it to begin with %q", found[i].fix[0], want)
		}
	}
}

func TestPoliciesThatTheClusterDoesNotServeAreNoted(t *testing.T) {
	kinds := func(names ...string) *metav1.APIResourceList {
		list := &metav1.APIResourceList{}
		for _, name := range names {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
		}
		return list
	}
	tests := map[string]struct {
		served *metav1.APIResourceList
		want   []string
	}{
		"Kubernetes 1.36": {kinds("validatingadmissionpolicies", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"), nil},
		"Kubernetes 1.34": {
			kinds("validatingadmissionpolicies"), []string{"info  admission policies: mutating admission policies are not applied to sets"}},
	}
	for name, test := range tests {
		got := policies(test.served)
		if len(got) != len(test.want) {
			t.Errorf("%s: got %d findings, want %d", name, len(got), len(test.want))
			continue
		}
		for i, f := range got {
			var shown strings.Builder
			f.show(&shown)
			if !strings.HasPrefix(shown.String(), test.want[i]) {
				t.Errorf("%s: got %q, want it to begin with %q", name, &shown, test.want[i])
			}
		}
		if n := failures(got); n != 0 {
			t.Errorf("%s: got %d failures, want none: an absent kind is nobody's fault", name, n)
		}
	}
}

func TestLifetime(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		left time.Duration
		want verdict
	}{
		"a year is enough":             {365 * 24 * time.Hour, fine},
		"a week is worth a warning":    {7 * 24 * time.Hour, doubt},
		"an expired one is a failure":  {-time.Hour, broken},
		"one that ends now is expired": {0, broken},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := &examiner{now: now}
			got := e.lifetime("it", &x509.Certificate{Subject: pkix.Name{CommonName: "ca"}, NotAfter: now.Add(test.left)})
			if got.verdict != test.want {
				t.Errorf("got %q (%s), want %q", got.verdict, got.message, test.want)
			}
			if got.verdict != fine && len(got.fix) == 0 {
				t.Errorf("%q comes without a command", got.message)
			}
		})
	}
}

func TestEveryReasonForAnAPIServiceToBeUnavailableHasACommand(t *testing.T) {
	tests := map[string]struct{ reason, message, want string }{
		"no service":             {"ServiceNotFound", "", "apply -k"},
		"no endpoints":           {"MissingEndpoints", "", "describe deployment"},
		"a wrong certificate":    {"FailedDiscoveryCheck", "x509: certificate signed by unknown authority", "openssl x509"},
		"a refused store":        {"FailedDiscoveryCheck", "bad status from https://x: 503", "says why it does not serve"},
		"an untrusted proxy":     {"FailedDiscoveryCheck", "bad status from https://x: 401", "extension-apiserver-authentication"},
		"a server out of reach":  {"FailedDiscoveryCheck", "context deadline exceeded", "firewalls"},
		"a reason yet to come":   {"Whatever", "", "get pods"},
		"a port that is not one": {"ServicePortError", "", "apply -k"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := &examiner{system: "statefulset-system"}
			got := e.availabilityRemedies(metav1.Condition{Reason: test.reason, Message: test.message})
			if !strings.Contains(strings.Join(got, "\n"), test.want) {
				t.Errorf("got %q, want a command with %q", got, test.want)
			}
		})
	}
}

func TestCountEndpoints(t *testing.T) {
	slices := []discoveryv1.EndpointSlice{{Endpoints: []discoveryv1.Endpoint{
		{Addresses: []string{"10.0.0.1"}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}},
		{Addresses: []string{"10.0.0.2"}, Conditions: discoveryv1.EndpointConditions{Ready: new(false)}},
	}}, {Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.3"}}}}}
	if ready, all := countEndpoints(slices); ready != 2 || all != 3 {
		t.Errorf("got %d of %d ready, want 2 of 3: no word about readiness means ready", ready, all)
	}
}

// What doctor demands must be what an installation gets.
func TestTheManifestsGiveTheRightsThatDoctorDemands(t *testing.T) {
	granted := rulesOf(t, "rbac-controller.yaml", "rbac-apiserver.yaml", "rbac-certificates.yaml", "rbac-options.yaml", "rbac-reads.yaml")
	// The cluster's own role system:auth-delegator, to which the server is bound, has these.
	granted = append(granted, rbacv1.PolicyRule{
		APIGroups: []string{"authentication.k8s.io", "authorization.k8s.io"}, Resources: []string{"tokenreviews", "subjectaccessreviews"},
		Verbs: []string{"create"},
	})
	all := append(neededRights(), certificateRights("statefulset-system")...)
	for _, role := range optionalRoles() {
		for _, one := range role.rights {
			all = append(all, one.right)
		}
	}
	for _, needed := range all {
		for _, verb := range needed.verbs {
			ok := slices.ContainsFunc(granted, func(r rbacv1.PolicyRule) bool {
				return slices.Equal(r.ResourceNames, needed.names()) && slices.Contains(r.APIGroups, needed.group) &&
					slices.Contains(r.Resources, needed.resource) && slices.Contains(r.Verbs, verb)
			})
			if !ok {
				t.Errorf("no rule of artifacts/base grants %s on %s of group %q", verb, needed.resource, needed.group)
			}
		}
	}
}

func rulesOf(t *testing.T, files ...string) []rbacv1.PolicyRule {
	t.Helper()
	var rules []rbacv1.PolicyRule
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join("..", "..", "..", "artifacts", "base", file))
		if err != nil {
			t.Fatalf("reading the manifests: %v", err)
		}
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			var role rbacv1.ClusterRole // a Role has the same fields
			if err := yaml.Unmarshal([]byte(document), &role); err != nil {
				t.Fatalf("reading %s: %v", file, err)
			}
			if role.Kind == "ClusterRole" || role.Kind == "Role" {
				rules = append(rules, role.Rules...)
			}
		}
	}
	return rules
}
