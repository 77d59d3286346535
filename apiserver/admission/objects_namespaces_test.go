// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// TestObjectsAreDescribedOnlyInTheListedNamespaces has Ann, who may do everything with maps, and a controller that may
// everything but make services.
func TestObjectsAreDescribedOnlyInTheListedNamespaces(t *testing.T) {
	const outside = `spec.objectTemplates: Forbidden: this server creates, watches and deletes supporting objects only in the namespaces that its flag ` +
		`--object-namespaces lists (bank, team), and "shop" is not one of them; create the set in one of them, or have an operator list the namespace`
	maps, services := manifest("v1", "ConfigMap"), manifest("v1", "Service")
	remove := v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType}
	image := func(s *v1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = "nginx:2" }
	inside, elsewhere := identity.ObjectNamespaces{"bank", "shop"}, identity.ObjectNamespaces{"bank", "team"}
	for sentence, test := range map[string]struct {
		namespaces identity.ObjectNamespaces
		user       string
		set, old   *v1.StatefulSet
		asked      []string // nil if it does not matter
		err        string
	}{
		"in a listed namespace all rights of the controller are asked for there": {namespaces: inside, user: "ann", set: describing(maps),
			asked: []string{
				"discover v1", "ann create configmaps", "ann patch configmaps", "controller create configmaps shop", "controller patch configmaps shop",
				"controller get configmaps shop", "controller list configmaps shop", "controller watch configmaps shop"}},
		"in a listed namespace where the controller may not": {namespaces: inside, user: "ann", set: describing(services),
			err: `the controller may not create "services" in namespace "shop"; apply artifacts/objects/services, and bind ClusterRole statefulset-controller-objects in the namespace to its service account`},
		"a new set outside": {namespaces: elsewhere, user: "ann", set: describing(maps), err: outside, asked: []string{}},
		"a new template of a set outside": {
			namespaces: elsewhere, user: "ann", set: describing(maps, maps), old: describing(maps), err: outside},
		"another image of a set outside": {
			namespaces: elsewhere, user: "ann", set: but(describing(maps), image), old: describing(maps), asked: []string{}},
		"no template any more, outside": {namespaces: elsewhere, user: "ann", set: describing(), old: describing(maps), asked: []string{}},
		"a set without objects outside": {namespaces: elsewhere, user: "ann", set: describing(), asked: []string{}},
		"a removed template with deletion": {namespaces: elsewhere, user: "ann", set: describing(), old: deleting(maps, remove),
			asked: []string{"discover v1", "ann delete configmaps"}},
		"the same by one who may not delete": {namespaces: elsewhere, user: "eve", set: describing(), old: deleting(maps, remove),
			err: `user "eve" may not delete "configmaps" in namespace "shop"`},
		"without the flag, in any namespace ": {user: "ann", set: describing(maps)},
	} {
		t.Run(sentence, func(t *testing.T) {
			host := &fakeHost{
				namespaces: test.namespaces, kinds: []metav1.APIResource{served("v1", "ConfigMap", "configmaps"), served("v1", "Service", "services")},
				users:      func(name, _ string) bool { return name == "ann" },
				controller: func(_, right string) bool { return right != "create services" },
			}
			set := test.set
			if test.old != nil {
				set = noted(test.set, test.old)
			}
			err := host.plugin(t).Validate(t.Context(), asking(test.user, set, test.old, "", false), nil)
			expectRefusal(t, err, test.err, 403)
			if test.asked != nil && !slices.Equal(host.asked, test.asked) {
				t.Errorf("the host was asked %q, want %q", host.asked, test.asked)
			}
		})
	}
}
