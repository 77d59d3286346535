//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	typed "statefulset.dev/client/clientset/versioned/typed/apps/v1"
	"statefulset.dev/test/harness"
)

// describing is a set with a template of objects of a kind.
func describing(name, apiVersion, kind string) *v1.StatefulSet {
	set := harness.NewSet(name, 0)
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{{Name: "some", Object: runtime.RawExtension{
		Raw: fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":"$(IDENTITY)-some"}}`, apiVersion, kind)}}}
	return set
}

// mayMake asks the host whether somebody may make objects of a resource themselves.
func (w *world) mayMake(ctx context.Context, user, ns string, resource schema.GroupResource) (bool, error) {
	for _, verb := range []string{"create", "patch"} {
		review, err := w.Host.AuthorizationV1().SubjectAccessReviews().Create(ctx,
			&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: user, Groups: []string{"system:authenticated"},
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: ns, Verb: verb, Group: resource.Group, Resource: resource.Resource},
			}}, metav1.CreateOptions{})
		if err != nil || !review.Status.Allowed {
			return false, err
		}
	}
	return true, nil
}

// neverMade are groups, and kinds of other groups, that no set makes, whoever asks.
func neverMade(kind schema.GroupKind) bool {
	return slices.Contains([]string{
		"rbac.authorization.k8s.io", "admissionregistration.k8s.io", "apiregistration.k8s.io", "apiextensions.k8s.io", "certificates.k8s.io",
		"authentication.k8s.io", "authorization.k8s.io", "apps.statefulset.dev", "events.k8s.io",
	}, kind.Group) || slices.Contains([]schema.GroupKind{
		{Kind: "Pod"}, {Kind: "PersistentVolumeClaim"}, {Kind: "Binding"}, {Kind: "Event"}, {Kind: "Endpoints"},
		{Group: "discovery.k8s.io", Kind: "EndpointSlice"}, {Group: "apps", Kind: "ControllerRevision"},
	}, kind)
}

// followed reports whether objects can be made in a namespace and followed.
func followed(resource *metav1.APIResource) bool {
	for _, verb := range []string{"create", "get", "list", "watch", "patch", "delete"} {
		if !slices.Contains(resource.Verbs, verb) {
			return false
		}
	}
	return resource.Namespaced
}

// TestASetMakesOnlyWhatItsAuthorMay has five users describe objects of every kind that the host
// serves, and asks the host what they may make themselves.
func TestASetMakesOnlyWhatItsAuthorMay(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns := w.Namespace(t, "security")
	making := func(resource string) string {
		return w.role(t, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{resource}, Verbs: []string{"create", "patch"}})
	}
	sets := map[string]typed.StatefulSetInterface{}
	setsOnly := w.setsOnly(t)
	for user, role := range map[string]string{"objects-nobody": setsOnly, "objects-maps": making("configmaps"),
		"objects-secrets": making("secrets"), "objects-admin": "admin", "objects-root": "cluster-admin"} {
		w.bind(t, ns, setsOnly, user)
		w.bind(t, ns, role, user)
		config := w.as(user)
		config.QPS = -1
		sets[user] = setsAs(t, config).AppsV1().StatefulSets(ns)
	}
	for user, resource := range map[string]string{
		"objects-maps": "configmaps", "objects-secrets": "secrets", "objects-admin": "services", "objects-root": "limitranges"} {
		harness.Eventually(t, "the host knows all roles of "+user, func(ctx context.Context) error {
			may, err := w.mayMake(ctx, user, ns, schema.GroupResource{Resource: resource})
			if err == nil && !may {
				err = fmt.Errorf("got that it may not make %s", resource)
			}
			return err
		})
	}
	try := func(ctx context.Context, user, apiVersion, kind string) error {
		_, err := sets[user].Create(ctx, describing("tried", apiVersion, kind), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}

	// The controller's own right.
	const withoutMaps, withoutSecrets = `the controller may not create "configmaps"; apply artifacts/objects/configmaps`,
		`the controller may not create "secrets"; apply artifacts/objects/secrets`
	if err := try(t.Context(), "objects-maps", "v1", "ConfigMap"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), withoutMaps) {
		t.Errorf("a map that the controller may not make: got %v, want a refusal with %q", err, withoutMaps)
	}
	w.kubectl(t, "apply", "-k", "../../artifacts/objects/configmaps")
	t.Cleanup(func() {
		_ = exec.CommandContext(context.Background(), w.Path("kubectl"), "--kubeconfig", w.Path("kubeconfig"), "delete", "-k",
			"../../artifacts/objects/configmaps").Run()
	})
	harness.Eventually(t, "a map is accepted that the controller may make",
		func(ctx context.Context) error { return try(ctx, "objects-maps", "v1", "ConfigMap") })
	if err := try(t.Context(), "objects-secrets", "v1", "Secret"); !apierrors.IsForbidden(err) ||
		!strings.Contains(err.Error(), withoutSecrets) {
		t.Errorf("a Secret that the controller may not make: got %v, want a refusal with %q", err, withoutSecrets)
	}
	w.changeAsWhoMayNot(t, sets["objects-maps"], sets["objects-nobody"])

	// The users' rights, with a controller that may make everything.
	everything, err := w.Host.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: "security-", Labels: map[string]string{"apps.statefulset.dev/aggregate-to-controller": "true"}},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch", "create", "patch"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a role: %v", err)
	}
	t.Cleanup(func() {
		_ = w.Host.RbacV1().ClusterRoles().Delete(context.Background(), everything.Name, metav1.DeleteOptions{})
	})
	harness.Eventually(t, "the controller may make everything",
		func(ctx context.Context) error { return try(ctx, "objects-root", "v1", "LimitRange") })
	_, lists, err := w.Host.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatalf("asking what the host serves: %v", err)
	}
	kinds, accepted := 0, 0
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatalf("reading a version: %v", err)
		}
		for i := range list.APIResources {
			resource := &list.APIResources[i]
			if strings.Contains(resource.Name, "/") {
				continue
			}
			kinds++
			possible := followed(resource) && !neverMade(schema.GroupKind{Group: version.Group, Kind: resource.Kind})
			for user := range sets {
				may, err := w.mayMake(t.Context(), user, ns, version.WithResource(resource.Name).GroupResource())
				if err != nil {
					t.Fatalf("asking what %s may: %v", user, err)
				}
				err = try(t.Context(), user, list.GroupVersion, resource.Kind)
				switch {
				case err == nil && possible && may:
					accepted++
				case err == nil:
					t.Errorf("%s of %s from %s: got it accepted, want it refused: may make it %t, can be made by sets %t", resource.Kind, version, user,
						may, possible)
				case possible && may && apierrors.IsInvalid(err): // the host wants more of the object than a name
				case possible && may:
					t.Errorf("%s of %s from %s: got %v, want it accepted, or refused for its contents", resource.Kind, version, user, err)
				case !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err):
					t.Errorf("%s of %s from %s: got %v, want it refused for its kind or its rights", resource.Kind, version, user, err)
				}
			}
		}
	}
	if kinds < 30 || accepted < 20 {
		t.Errorf("got %d kinds, of which %d were accepted of somebody, want at least 30 and 20", kinds, accepted)
	}
	t.Logf("%d kinds of the host described by %d users: %d accepted, all of users who may make such objects", kinds, len(sets), accepted)
}

// changeAsWhoMayNot has somebody change what somebody else has described, and what is beside it.
func (w *world) changeAsWhoMayNot(t *testing.T, author, other typed.StatefulSetInterface) {
	t.Helper()
	if _, err := author.Create(t.Context(), describing("described", "v1", "ConfigMap"), metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a set with maps: %v", err)
	}
	const refused = `user "objects-nobody" may not create "configmaps"`
	for sentence, test := range map[string]struct{ patch, want string }{
		"another image":  {patch: `{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`},
		"other replicas": {patch: `{"spec":{"replicas":1}}`},
		"another manifest": {
			`{"spec":{"objectTemplates":[{"name":"some","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-other"}}}]}}`,
			refused},
		"another value":   {`{"spec":{"identity":{"values":{"A":"b"}}}}`, refused},
		"another service": {`{"spec":{"serviceName":"other"}}`, refused},
		"another ordinal": {`{"spec":{"ordinals":{"start":5}}}`, refused},
	} {
		_, err := other.Patch(t.Context(), "described", types.MergePatchType, []byte(test.patch),
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s by one who may not make maps: got %v, want %q", sentence, err, test.want)
		}
	}
}
