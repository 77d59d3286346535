// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"io"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// objectsPluginName is the name of the plugin in flags.
const objectsPluginName = "ObjectRights"

// controllerRoleLabel is the label that adds the rights of a ClusterRole to those of the
// controller, for objects.
const controllerRoleLabel = v1.GroupName + "/aggregate-to-controller"

// controllerRole is the aggregated ClusterRole with these rights.
const controllerRole = "statefulset-controller-objects"

// objectRights lets a set describe objects only if the user who writes the description may create
// them, and if the controller, which creates them, may too. Unchanged templates are not reviewed,
// so a right that was lost later does not block changes of other fields. The number of replicas is
// not reviewed either: each user who may scale the set may change it.
type objectRights struct {
	*admission.Handler
	rights authorizer.Authorizer
	host   objectHost
	// own is the namespace of this server.
	own string
	// namespaces are the namespaces in which the controller creates objects.
	namespaces identity.ObjectNamespaces
}

// objectHost is what the plugin asks the host cluster in addition to the rights of users.
type objectHost interface {
	// ResourcesOf returns the resources that the host cluster serves for objects of a kind.
	ResourcesOf(ctx context.Context, kind schema.GroupVersionKind) ([]metav1.APIResource, error)
	// May reports whether the controller has a right.
	May(ctx context.Context, right authorizationv1.ResourceAttributes) (bool, error)
}

var (
	_ admission.ValidationInterface = &objectRights{}
	_ initializer.WantsAuthorizer   = &objectRights{}
)

func newObjectRights(io.Reader) (admission.Interface, error) {
	return &objectRights{Handler: admission.NewHandler(admission.Create, admission.Update)}, nil
}

// SetAuthorizer sets the authorizer: the host cluster decides, as for every request.
func (p *objectRights) SetAuthorizer(rights authorizer.Authorizer) { p.rights = rights }

// ValidateInitialization returns an error if the plugin has no authorizer or no host cluster.
func (p *objectRights) ValidateInitialization() error {
	if p.rights == nil || p.host == nil {
		return errors.New("missing authorizer or host")
	}
	return nil
}

// objectInitializer gives the plugin the host cluster, the namespace of this server, and the
// namespaces in which the controller creates objects.
type objectInitializer struct {
	host       objectHost
	own        string
	namespaces identity.ObjectNamespaces
}

var _ admission.PluginInitializer = objectInitializer{}

func (i objectInitializer) Initialize(plugin admission.Interface) {
	if p, ok := plugin.(*objectRights); ok {
		p.host, p.own, p.namespaces = i.host, i.own, i.namespaces
	}
}

// Validate reviews the objects of templates that create different objects than before, and the
// objects of removed templates that are deleted as a consequence, in dry runs too. It runs in the
// transaction, after everything that changes a set. No subresource changes what objects are created
// from, except the number of replicas.
func (p *objectRights) Validate(ctx context.Context, request admission.Attributes, _ admission.ObjectInterfaces) error {
	set, ok := request.GetObject().(*v1.StatefulSet)
	if !ok || request.GetSubresource() != "" {
		return nil
	}
	old, _ := request.GetOldObject().(*v1.StatefulSet)
	path := field.NewPath("spec", "objectTemplates")
	review := &objectReview{
		plugin: p, request: request, allowed: map[askedRight]bool{}, resources: map[schema.GroupVersionKind][]metav1.APIResource{}}
	if old != nil {
		for _, status := range identity.AddedRemovals(&set.Status, &old.Status) {
			if err := review.removed(ctx, set, old, status, path); err != nil {
				return err
			}
		}
	}
	changed := identity.ChangedObjectTemplates(set, old)
	if len(changed) == 0 {
		return nil
	}
	if request.GetNamespace() == p.own {
		return forbidden(request, path, "not allowed in namespace %q, which is the namespace of this server", p.own)
	}
	if !p.namespaces.Has(request.GetNamespace()) {
		return forbidden(request, path, "%s; create the set in one of them, or have an operator list the namespace",
			p.namespaces.Excluded(request.GetNamespace()))
	}
	objects, wrong := identity.OverridesOf(set).Objects()
	if wrong != nil {
		return admission.NewForbidden(request, wrong) // validation has refused this already
	}
	for _, i := range changed {
		if err := review.template(ctx, objects[i], path.Index(i).Child("object")); err != nil {
			return err
		}
	}
	return nil
}

// objectReview is the review of one request. It asks nothing twice.
type objectReview struct {
	plugin  *objectRights
	request admission.Attributes
	allowed map[askedRight]bool
	// resources are what the host cluster serves for each kind.
	resources map[schema.GroupVersionKind][]metav1.APIResource
	// about is the removed template that the current questions are about.
	about removal
}

// askedRight is a right of the user or of the controller.
type askedRight struct {
	resource     schema.GroupVersionResource
	verb         string
	ofController bool
}

// template reviews one template: whether such objects can exist, whether the user may create them,
// and whether the controller may. If the host cluster does not answer, the write is refused for
// now.
func (r *objectReview) template(ctx context.Context, object identity.Object, path *field.Path) error {
	resource, err := r.resource(ctx, object.Kind(), path)
	if err != nil {
		return err
	}
	for _, verb := range objectVerbs(object.Template()) {
		if err := r.user(ctx, resource, verb, path); err != nil {
			return err
		}
	}
	for _, verb := range controllerVerbs(object.Template()) {
		if err := r.controller(ctx, resource, verb, path); err != nil {
			return err
		}
	}
	return nil
}

// objectVerbs returns what the set does on behalf of its user to objects of a template. An output
// shows content of an object, which another owner may have created.
func objectVerbs(template *v1.ObjectTemplate) []string {
	verbs := []string{"create", "patch"}
	if len(template.Outputs) > 0 {
		verbs = append(verbs, "get")
	}
	if deletes(template) {
		verbs = append(verbs, "delete")
	}
	return verbs
}

// deletes reports whether objects of a template are deleted when they are not needed any more, by
// the controller or by the garbage collector of the host cluster.
func deletes(template *v1.ObjectTemplate) bool {
	_, scaled := template.DeletesScaled()
	return scaled || template.DeletesWithSet()
}

// controllerVerbs returns what the controller needs for objects of a template. It also reads and
// watches them. It does not delete objects that are deleted together with the set.
func controllerVerbs(template *v1.ObjectTemplate) []string {
	verbs := []string{"create", "patch", "get", "list", "watch"}
	if _, scaled := template.DeletesScaled(); scaled {
		verbs = append(verbs, "delete")
	}
	return verbs
}

// user asks whether the user may do something to any object of a resource in the set's namespace.
func (r *objectReview) user(ctx context.Context, resource schema.GroupVersionResource, verb string, path *field.Path) error {
	key := askedRight{resource, verb, false}
	if r.allowed[key] {
		return nil
	}
	may, err := userMay(ctx, r.plugin.rights, r.request, verb, resource)
	switch {
	case err != nil:
		return unanswered(path, err)
	case !may:
		return forbidden(r.request, path, "%suser %q may not %s %q in namespace %q%s", r.about.what(),
			r.request.GetUserInfo().GetName(), verb, resource.GroupResource().String(), r.request.GetNamespace(), r.about.remedy())
	default:
		r.allowed[key] = true
		return nil
	}
}

// controller asks whether the controller may do something to any object of a resource. It watches
// objects in all namespaces, unless --object-namespaces limits it to some.
func (r *objectReview) controller(ctx context.Context, resource schema.GroupVersionResource, verb string, path *field.Path) error {
	key := askedRight{resource, verb, true}
	if r.allowed[key] {
		return nil
	}
	right := authorizationv1.ResourceAttributes{Verb: verb, Group: resource.Group, Version: resource.Version, Resource: resource.Resource}
	limited := r.plugin.namespaces.Limited()
	if limited || verb != "list" && verb != "watch" {
		right.Namespace = r.request.GetNamespace()
	}
	may, err := r.plugin.host.May(ctx, right)
	switch {
	case err != nil:
		return unanswered(path, err)
	case !may:
		where, bound := "", ""
		if limited {
			where = fmt.Sprintf(" in namespace %q", right.Namespace)
			bound = ", and bind ClusterRole " + controllerRole + " in the namespace to its service account"
		}
		return forbidden(r.request, path, "%sthe controller may not %s %q%s; %s%s%s", r.about.what(),
			verb, resource.GroupResource().String(), where, remedy(resource.GroupResource(), verb), bound, r.about.remedy())
	default:
		r.allowed[key] = true
		return nil
	}
}

// remedy says how an operator lets the controller create objects of a resource, or delete them.
func remedy(resource schema.GroupResource, verb string) string {
	folder := "objects/"
	if verb == "delete" {
		folder = "objects-delete/"
	}
	switch resource {
	case schema.GroupResource{Resource: "configmaps"}, schema.GroupResource{Resource: "secrets"}, schema.GroupResource{Resource: "services"},
		schema.GroupResource{Group: "batch", Resource: "jobs"}:
		return "apply artifacts/" + folder + resource.Resource
	default:
		return "label a ClusterRole that allows it " + controllerRoleLabel + "=true"
	}
}
