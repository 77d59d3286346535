// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/registry/statefulset/settest"
)

// Of a host that does not answer, what is silent says which questions it leaves open.
const (
	silentOnUsers      = "users"
	silentOnController = "controller"
	silentOnKinds      = "kinds"
)

// fakeHost answers from a list of kinds, and of rights as in "create configmaps". It is also whom the
// server asks about its users.
type fakeHost struct {
	kinds []metav1.APIResource // with group and version
	// users are what may be done in namespace "shop", and controller what the controller may.
	users, controller func(user, right string) bool
	silent            string
	// namespaces are those of --object-namespaces.
	namespaces identity.ObjectNamespaces
	asked      []string
}

func (h *fakeHost) ResourcesOf(_ context.Context, kind schema.GroupVersionKind) (found []metav1.APIResource, err error) {
	h.asked = append(h.asked, "discover "+kind.GroupVersion().String())
	if h.silent == silentOnKinds {
		return nil, errors.New("no answer")
	}
	for _, resource := range h.kinds {
		if resource.Kind == kind.Kind && resource.Group == kind.Group && resource.Version == kind.Version {
			found = append(found, resource)
		}
	}
	return found, nil
}

func (h *fakeHost) May(_ context.Context, right authorizationv1.ResourceAttributes) (bool, error) {
	h.asked = append(h.asked, strings.TrimSpace("controller "+right.Verb+" "+
		schema.GroupResource{Group: right.Group, Resource: right.Resource}.String()+" "+right.Namespace))
	if h.silent == silentOnController {
		return false, errors.New("no answer")
	}
	return h.controller("", right.Verb+" "+schema.GroupResource{Group: right.Group, Resource: right.Resource}.String()), nil
}

func (h *fakeHost) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	right := a.GetVerb() + " " + schema.GroupResource{Group: a.GetAPIGroup(), Resource: a.GetResource()}.String()
	h.asked = append(h.asked, a.GetUser().GetName()+" "+right)
	switch {
	case h.silent == silentOnUsers:
		return authorizer.DecisionNoOpinion, "", errors.New("no answer")
	case a.GetNamespace() == "shop" && a.IsResourceRequest() && a.GetName() == "" && a.GetSubresource() == "" &&
		h.users(a.GetUser().GetName(), right):
		return authorizer.DecisionAllow, "", nil
	default:
		return authorizer.DecisionNoOpinion, "", nil
	}
}

func (h *fakeHost) plugin(t *testing.T) *objectRights {
	t.Helper()
	plugin, err := newObjectRights(nil)
	if err != nil {
		t.Fatalf("making the plugin: %v", err)
	}
	p := plugin.(*objectRights)
	p.SetAuthorizer(authorizer.AuthorizerFunc(h.Authorize))
	if p.ValidateInitialization() == nil {
		t.Fatal("without a host the plugin is taken for ready")
	}
	objectInitializer{h, "system", h.namespaces}.Initialize(p)
	if err := p.ValidateInitialization(); err != nil {
		t.Fatalf("with all that it asks: %v", err)
	}
	return p
}

// served is a resource that the host serves in a namespace, with all verbs.
func served(apiVersion, kind, name string) metav1.APIResource {
	version, _ := schema.ParseGroupVersion(apiVersion)
	return metav1.APIResource{Group: version.Group, Version: version.Version, Kind: kind, Name: name, Namespaced: true,
		Verbs: metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}}
}

func manifest(apiVersion, kind string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"$(IDENTITY)-x"}}`, apiVersion, kind)
}

// describing is a set with templates of objects, called after their number.
func describing(manifests ...string) *v1.StatefulSet {
	return settest.Changed(func(set *v1.StatefulSet) {
		set.Namespace = "shop"
		for i, manifest := range manifests {
			set.Spec.ObjectTemplates = append(set.Spec.ObjectTemplates,
				v1.ObjectTemplate{Name: fmt.Sprintf("t%d", i), Object: runtime.RawExtension{Raw: []byte(manifest)}})
		}
	})
}

func but(set *v1.StatefulSet, change func(*v1.StatefulSet)) *v1.StatefulSet {
	changed := set.DeepCopy()
	change(changed)
	return changed
}

// asking is a request of a user to write a set; old is nil to create it.
func asking(name string, set, old *v1.StatefulSet, subresource string, dryRun bool) admission.Attributes {
	operation, before := admission.Create, runtime.Object(nil)
	if old != nil {
		operation, before = admission.Update, old
	}
	return admission.NewAttributesRecord(set, before, v1.GroupVersionKind(), set.Namespace, set.Name,
		v1.SchemeGroupVersion.WithResource("statefulsets"), subresource, operation, nil, dryRun, &user.DefaultInfo{Name: name})
}
