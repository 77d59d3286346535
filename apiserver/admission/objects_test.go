// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	mutatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// TestWhoDescribesObjectsIsAskedFor has Ann, who may make maps and services in namespace "shop", and
// Eve, who may make maps and not change them. The controller may make maps and secrets.
func TestWhoDescribesObjectsIsAskedFor(t *testing.T) {
	const at = "spec.objectTemplates[0].object: Forbidden: "
	maps, services, secrets := manifest("v1", "ConfigMap"), manifest("v1", "Service"), manifest("v1", "Secret")
	jobs, certificates := manifest("batch/v1", "Job"), manifest("cert-manager.io/v1", "Certificate")
	full := []string{
		"discover v1", "ann create configmaps", "ann patch configmaps", "controller create configmaps shop", "controller patch configmaps shop",
		"controller get configmaps shop", "controller list configmaps", "controller watch configmaps"}
	for sentence, test := range map[string]struct {
		user        string
		set, old    *v1.StatefulSet
		subresource string
		dryRun      bool
		silent      string
		asked       []string // nil if it does not matter
		err         string
		code        int32
		nothing     bool
	}{
		"who may": {user: "ann", set: describing(maps), asked: full},
		"who may, about one resource of several objects": {user: "ann", set: describing(maps, maps, maps), asked: full},
		"who may not change what is made": {
			user: "eve", set: describing(maps), err: at + `user "eve" may not patch "configmaps" in namespace "shop"`, code: 403},
		"who may not make it": {
			user: "eve", set: describing(secrets), err: at + `user "eve" may not create "secrets" in namespace "shop"`, code: 403},
		"who may not make it, in a dry run": {
			user: "eve", set: describing(secrets), dryRun: true, err: at + `user "eve" may not create "secrets" in namespace "shop"`, code: 403},
		"who may not make the second": {user: "ann", set: describing(maps, secrets),
			err: `spec.objectTemplates[1].object: Forbidden: user "ann" may not create "secrets" in namespace "shop"`, code: 403},
		"who may not read what is made": {
			user: "ann", set: reading(maps), err: at + `user "ann" may not get "configmaps" in namespace "shop"`, code: 403},
		"who may read what is made": {user: "bea", set: reading(maps), asked: []string{
			"discover v1", "bea create configmaps", "bea patch configmaps", "bea get configmaps", "controller create configmaps shop",
			"controller patch configmaps shop", "controller get configmaps shop", "controller list configmaps", "controller watch configmaps"}},
		"who may not delete what is made, and would have it deleted": {
			user: "ann", set: deleting(maps, v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType}),
			err: at + `user "ann" may not delete "configmaps" in namespace "shop"`, code: 403},
		"who may not delete what would go with the set": {
			user: "ann", set: deleting(maps, v1.ObjectRetention{WhenDeleted: v1.DeleteObjectRetentionPolicyType}),
			err: at + `user "ann" may not delete "configmaps" in namespace "shop"`, code: 403},
		"who may delete what is made": {user: "del", set: deleting(maps, v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType}),
			asked: []string{"discover v1", "del create configmaps", "del patch configmaps", "del delete configmaps",
				"controller create configmaps shop", "controller patch configmaps shop",
				"controller get configmaps shop", "controller list configmaps", "controller watch configmaps", "controller delete configmaps shop"}},
		"what the controller does not delete itself": {
			user: "root", set: deleting(secrets, v1.ObjectRetention{WhenDeleted: v1.DeleteObjectRetentionPolicyType})},
		"what the controller may not delete": {
			user: "root", set: deleting(secrets, v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType}),
			err: at + `the controller may not delete "secrets"; apply artifacts/objects-delete/secrets`, code: 403},
		"what is deleted from now on": {
			user: "ann", set: deleting(maps, v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType}), old: describing(maps),
			err: at + `user "ann" may not delete "configmaps" in namespace "shop"`, code: 403},
		"what is deleted sooner": {
			user: "ann", set: deleting(maps, v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType, ScaledAfterSeconds: new(int32(1))}),
			old: deleting(maps, v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType, ScaledAfterSeconds: new(int32(60))}),
			err: at + `user "ann" may not delete "configmaps" in namespace "shop"`, code: 403},
		"what is kept with other words": {
			user: "ann", set: deleting(maps, v1.ObjectRetention{WhenScaled: v1.RetainObjectRetentionPolicyType}), asked: full},
		"what the controller may not": {user: "ann", set: describing(services),
			err: at + `the controller may not create "services"; apply artifacts/objects/services`, code: 403},
		"what the controller may not, of a group": {
			user: "root", set: describing(jobs), err: at + `the controller may not create "jobs.batch"; apply artifacts/objects/jobs`, code: 403},
		"what the controller may not, of others": {user: "root", set: describing(certificates),
			err: at + `the controller may not create "certificates.cert-manager.io"; label a ClusterRole that allows it apps.statefulset.dev/aggregate-to-controller=true`, code: 403},
		"what would be in the server's own namespace": {
			user: "root", set: but(describing(maps), func(s *v1.StatefulSet) { s.Namespace = "system" }),
			err: `spec.objectTemplates: Forbidden: not allowed in namespace "system", which is the namespace of this server`, code: 403},
		"a host that is silent about users": {user: "ann", silent: silentOnUsers, set: describing(maps),
			err: "spec.objectTemplates[0].object: the host cluster did not answer whether this is allowed: no answer", code: 503},
		"a host that is silent about the controller": {
			user: "ann", silent: silentOnController, set: describing(maps), err: "no answer", code: 503},
		"a host that is silent about kinds": {user: "ann", silent: silentOnKinds, set: describing(maps), err: "no answer", code: 503},
		"a manifest with a second kind that only some readers see": {
			user: "ann", set: describing(`{"apiVersion":"v1","kind":"Secret","Kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-x"}}`),
			err: at + `user "ann" may not create "secrets" in namespace "shop"`, code: 403},

		"no review for a set without objects": {user: "eve", set: describing(), nothing: true},
		"no review for what was there":        {user: "eve", set: describing(maps, secrets), old: describing(maps, secrets), nothing: true},
		"no review for another order of fields": {user: "eve",
			set: describing(`{"metadata":{"name":"$(IDENTITY)-x"}, "kind":"ConfigMap","apiVersion":"v1"}`), old: describing(maps), nothing: true},
		"no review for objects that are removed": {user: "eve", set: describing(maps), old: describing(maps, secrets), nothing: true},
		"no review for a status":                 {user: "eve", set: describing(maps), subresource: "status", nothing: true},
		"a review for the one that is added":     {user: "ann", set: describing(secrets, maps), old: describing(secrets), asked: full},
	} {
		t.Run(sentence, func(t *testing.T) {
			host := &fakeHost{silent: test.silent,
				kinds: []metav1.APIResource{served("v1", "ConfigMap", "configmaps"), served("v1", "Service", "services"),
					served("v1", "Secret", "secrets"), served("batch/v1", "Job", "jobs"), served("cert-manager.io/v1", "Certificate", "certificates")},
				users: func(name, right string) bool {
					may := map[string][]string{
						"ann": {"create configmaps", "patch configmaps", "create services", "patch services"}, "eve": {"create configmaps"},
						"bea": {"create configmaps", "patch configmaps", "get configmaps"},
						"del": {"create configmaps", "patch configmaps", "delete configmaps"}}
					return name == "root" || slices.Contains(may[name], right)
				},
				controller: func(_, right string) bool {
					return strings.HasSuffix(right, " configmaps") || strings.HasSuffix(right, " secrets") && right != "delete secrets"
				},
			}
			err := host.plugin(t).Validate(t.Context(), asking(test.user, test.set, test.old, test.subresource, test.dryRun), nil)
			expectRefusal(t, err, test.err, test.code)
			if test.asked != nil && !slices.Equal(host.asked, test.asked) || test.nothing && len(host.asked) > 0 {
				t.Errorf("the host was asked %q, want %q", host.asked, test.asked)
			}
		})
	}
}

// reading is describing, with an output.
func reading(manifest string) *v1.StatefulSet {
	return but(describing(manifest), func(s *v1.StatefulSet) {
		s.Spec.ObjectTemplates[0].Outputs = []v1.ObjectOutput{{Name: "A", Expression: "object.data.a"}}
	})
}

// deleting is describing, with a retention.
func deleting(manifest string, retention v1.ObjectRetention) *v1.StatefulSet {
	return but(describing(manifest), func(s *v1.StatefulSet) { s.Spec.ObjectTemplates[0].Retention = &retention })
}

// expectRefusal wants an error that says something, with a code, or none.
func expectRefusal(t *testing.T, err error, says string, code int32) {
	t.Helper()
	if says == "" {
		if err != nil {
			t.Errorf("got error %v, want none", err)
		}
		return
	}
	status := apierrors.APIStatus(nil)
	if err == nil || !strings.Contains(err.Error(), says) || !errors.As(err, &status) || status.Status().Code != code {
		t.Errorf("got error %v, want %q with code %d", err, says, code)
	}
}

// TestWhatObjectsAreMadeFromIsAskedFor changes each field of a set by one who has lost the right that
// the set was made with.
func TestWhatObjectsAreMadeFromIsAskedFor(t *testing.T) {
	const refused = `user "eve" may not create "configmaps" in namespace "shop"`
	old := but(describing(manifest("v1", "ConfigMap")), func(s *v1.StatefulSet) {
		s.Spec.Identity = &v1.MemberIdentity{Values: map[string]string{"SIZE": "1"}}
		s.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}
		s.Spec.Template.Labels["tier"] = "a"
	})
	for sentence, test := range map[string]struct {
		change func(*v1.StatefulSet)
		want   string
	}{
		"a manifest": {func(s *v1.StatefulSet) {
			s.Spec.ObjectTemplates[0].Object.Raw = []byte(strings.Replace(manifest("v1", "ConfigMap"), "-x", "-y", 1))
		}, refused},
		"a transform": {func(s *v1.StatefulSet) {
			s.Spec.ObjectTemplates[0].Transforms = []v1.Transform{{Path: "/data/a", Expression: "SET"}}
		}, refused},
		"an output": {func(s *v1.StatefulSet) {
			s.Spec.ObjectTemplates[0].Outputs = []v1.ObjectOutput{{Name: "A", Expression: "object.data.a"}}
		}, refused},
		"whose objects":        {func(s *v1.StatefulSet) { s.Spec.ObjectTemplates[0].Scope = v1.SetObjectScope }, refused},
		"what is used":         {func(s *v1.StatefulSet) { s.Spec.ObjectTemplates[0].ExistingPolicy = v1.RefuseExistingObject }, refused},
		"a name of a template": {func(s *v1.StatefulSet) { s.Spec.ObjectTemplates[0].Name = "other" }, refused},
		"a value":              {func(s *v1.StatefulSet) { s.Spec.Identity.Values["SIZE"] = "2" }, refused},
		"all values":           {func(s *v1.StatefulSet) { s.Spec.Identity = nil }, refused},
		"a value of one member": {func(s *v1.StatefulSet) {
			s.Spec.Overrides = []v1.MemberOverride{{Ordinals: []v1.OrdinalRange{{First: 1}}, Values: map[string]string{"SIZE": "3"}}}
		}, refused},
		"where ordinals start": {func(s *v1.StatefulSet) { s.Spec.Ordinals = &v1.StatefulSetOrdinals{Start: 7} }, refused},
		"a reserved ordinal": {func(s *v1.StatefulSet) {
			s.Spec.Ordinals = &v1.StatefulSetOrdinals{Reserved: []v1.OrdinalRange{{First: 1}}}
		}, refused},
		"the service":            {func(s *v1.StatefulSet) { s.Spec.ServiceName = "other" }, refused},
		"a label that is a mark": {func(s *v1.StatefulSet) { s.Spec.Template.Labels["tier"] = "b" }, refused},

		"another label":       {change: func(s *v1.StatefulSet) { s.Spec.Template.Labels["other"] = "b" }},
		"the replicas":        {change: func(s *v1.StatefulSet) { s.Spec.Replicas = new(int32(9)) }}, // these objects do not name them
		"the image":           {change: func(s *v1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = "nginx:2" }},
		"the claims":          {change: func(s *v1.StatefulSet) { s.Spec.VolumeClaimTemplates = nil }},
		"the update":          {change: func(s *v1.StatefulSet) { s.Spec.UpdateStrategy.Type = v1.OnDeleteStatefulSetStrategyType }},
		"its own annotations": {change: func(s *v1.StatefulSet) { s.Annotations = map[string]string{"a": "b"} }},
		"its status":          {change: func(s *v1.StatefulSet) { s.Status.Replicas = 3 }},
		"nothing":             {change: func(*v1.StatefulSet) {}},
	} {
		t.Run(sentence, func(t *testing.T) {
			host := &fakeHost{kinds: []metav1.APIResource{served("v1", "ConfigMap", "configmaps")}, users: func(_, _ string) bool { return false }}
			set := but(old, test.change)
			err := host.plugin(t).Validate(t.Context(), asking("eve", set, old, "", false), nil)
			expectRefusal(t, err, test.want, 403)
			if test.want == "" && len(host.asked) > 0 {
				t.Errorf("the host was asked %q, want nothing", host.asked)
			}
			if got, before := made(t, set), made(t, old); test.want == "" && got != before {
				t.Errorf("without a review the objects became\n%s, want\n%s", got, before)
			}
		})
	}
}

// made are the objects of the first members of a set.
func made(t *testing.T, set *v1.StatefulSet) string {
	t.Helper()
	var all []any
	objects, wrong := identity.OverridesOf(set).Objects()
	for _, object := range objects {
		for ordinal := range 3 {
			one, err := object.Make(ordinal)
			if wrong = cmp.Or(wrong, err); one != nil {
				all = append(all, one.Object)
			}
		}
	}
	text, err := json.Marshal(all)
	if err != nil || wrong != nil {
		t.Fatalf("making objects: %v, %v", err, wrong)
	}
	return string(text)
}

// TestReviewsComeAfterWhatChangesSets looks at the order in which plugins are called.
func TestReviewsComeAfterWhatChangesSets(t *testing.T) {
	order := NewOptions().RecommendedPluginOrder
	if webhooks, ours := slices.Index(order, mutatingwebhook.PluginName), slices.Index(order, objectsPluginName); webhooks < 0 ||
		ours < webhooks {
		t.Errorf("the plugins are %q, want %s after %s", order, objectsPluginName, mutatingwebhook.PluginName)
	}
	if p := (&fakeHost{}).plugin(t); !p.Handles(admission.Create) || !p.Handles(admission.Update) {
		t.Error("the plugin does not look at all writes")
	}
}

// TestKindsAreThoseThatCanBeFollowed has kinds that the host serves in ways of their own.
func TestKindsAreThoseThatCanBeFollowed(t *testing.T) {
	with := func(change func(*metav1.APIResource)) []metav1.APIResource {
		resource := served("example.com/v1", "Thing", "things")
		change(&resource)
		return []metav1.APIResource{resource}
	}
	without := func(verb string) []metav1.APIResource {
		return with(func(r *metav1.APIResource) {
			r.Verbs = slices.DeleteFunc(r.Verbs, func(v string) bool { return v == verb })
		})
	}
	const never = "spec.objectTemplates[0].object.kind: Forbidden: never created by a set: "
	for sentence, test := range map[string]struct {
		kinds []metav1.APIResource
		err   string
	}{
		"as all others": {kinds: with(func(*metav1.APIResource) {})},
		"not at all": {
			err: `spec.objectTemplates[0].object.kind: Invalid value: "Thing": the host cluster does not serve this kind in version example.com/v1`},
		"in another version": {
			kinds: with(func(r *metav1.APIResource) { r.Version = "v2" }), err: "does not serve this kind in version example.com/v1"},
		"of another group": {
			kinds: with(func(r *metav1.APIResource) { r.Group = "example.org" }), err: "does not serve this kind in version example.com/v1"},
		"in no namespace":       {kinds: with(func(r *metav1.APIResource) { r.Namespaced = false }), err: never + "it is not namespaced"},
		"and cannot be listed":  {kinds: without("list"), err: never + "the host cluster does not support verb list for it"},
		"and cannot be watched": {kinds: without("watch"), err: never + "the host cluster does not support verb watch for it"},
		"and cannot be changed": {kinds: without("patch"), err: never + "the host cluster does not support verb patch for it"},
		"and cannot be deleted": {kinds: without("delete"), err: never + "the host cluster does not support verb delete for it"},
		"and cannot be created": {kinds: without("create"), err: never + "the host cluster does not support verb create for it"},
		"and cannot be read":    {kinds: without("get"), err: never + "the host cluster does not support verb get for it"},
		"under two names": {kinds: append(with(func(*metav1.APIResource) {}), with(func(r *metav1.APIResource) { r.Name = "objects" })...),
			err: never + `the host cluster serves it both as "things" and as "objects"`},
	} {
		t.Run(sentence, func(t *testing.T) {
			all := func(_, _ string) bool { return true }
			host := &fakeHost{kinds: test.kinds, users: all, controller: all}
			err := host.plugin(t).Validate(t.Context(), asking("root", describing(manifest("example.com/v1", "Thing")), nil, "", false), nil)
			expectRefusal(t, err, test.err, 422)
		})
	}
}
