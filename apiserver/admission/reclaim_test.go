// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	v1 "statefulset.dev/api/apps/v1"
)

// TestWhoHasClaimsDeletedIsAskedFor has one user who may delete claims in namespace "shop"; an
// end-to-end test has the real rights of a cluster.
func TestWhoHasClaimsDeletedIsAskedFor(t *testing.T) {
	after := func(seconds int32) *v1.StatefulSet {
		set := &v1.StatefulSet{}
		set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{ScaledAfterSeconds: &seconds}
		return set
	}
	const want = `scaledAfterSeconds: Forbidden: user "eve" may not delete "persistentvolumeclaims" in namespace "shop"`
	for sentence, test := range map[string]struct {
		user        string
		set, old    *v1.StatefulSet
		subresource string
		silent      bool
		asked       int
		err         string
	}{
		"who may":                           {user: "ann", set: after(5), asked: 1},
		"who may not":                       {user: "eve", set: after(5), asked: 1, err: want},
		"who may not, and does not ask":     {user: "eve", set: &v1.StatefulSet{}},
		"who may not, with a shorter delay": {user: "eve", set: after(5), old: after(50), asked: 1, err: want},
		"who may not, with what was there":  {user: "eve", set: after(5), old: after(5)},
		"who may not, and takes it away":    {user: "eve", set: &v1.StatefulSet{}, old: after(5)},
		"of a write of the status":          {user: "eve", set: after(5), subresource: "status"},
		"if the host does not answer":       {user: "ann", silent: true, set: after(5), asked: 1, err: "no answer"},
	} {
		t.Run(sentence, func(t *testing.T) {
			asked := 0
			p := &reclaimRights{}
			p.SetAuthorizer(authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
				asked++
				if test.silent {
					return authorizer.DecisionNoOpinion, "", errors.New("no answer")
				}
				if a.GetUser().GetName() == "ann" && a.GetVerb() == "delete" && a.GetResource() == "persistentvolumeclaims" && a.GetAPIGroup() == "" &&
					a.GetNamespace() == "shop" && a.IsResourceRequest() {
					return authorizer.DecisionAllow, "", nil
				}
				return authorizer.DecisionNoOpinion, "", nil
			}))
			request := admission.NewAttributesRecord(test.set, test.old, v1.GroupVersionKind(), "shop", "db",
				v1.SchemeGroupVersion.WithResource("statefulsets"), test.subresource, admission.Update, nil, false, &user.DefaultInfo{Name: test.user})
			err := p.Validate(t.Context(), request, nil)
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v, want %q", err, test.err)
			}
			if asked != test.asked {
				t.Errorf("got %d questions, want %d", asked, test.asked)
			}
		})
	}
}
