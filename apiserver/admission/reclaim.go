// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

// reclaimPluginName is the name of the plugin in flags.
const reclaimPluginName = "ReclaimRights"

// reclaimRights lets a set delete claims some time after a scale-down only if the user who asks for
// it may delete claims: the controller deletes them later, with a right that the user need not
// have. An unchanged field is not reviewed, so a right that was lost later does not block changes
// of other fields.
type reclaimRights struct {
	*admission.Handler
	rights authorizer.Authorizer
}

var (
	_ admission.ValidationInterface = &reclaimRights{}
	_ initializer.WantsAuthorizer   = &reclaimRights{}
)

func newReclaimRights(io.Reader) (admission.Interface, error) {
	return &reclaimRights{Handler: admission.NewHandler(admission.Create, admission.Update)}, nil
}

// SetAuthorizer sets the authorizer: the host cluster decides, as for every request.
func (p *reclaimRights) SetAuthorizer(rights authorizer.Authorizer) { p.rights = rights }

// ValidateInitialization returns an error if the plugin has no authorizer.
func (p *reclaimRights) ValidateInitialization() error {
	if p.rights == nil {
		return errors.New("missing authorizer")
	}
	return nil
}

// Validate asks whether the user may delete claims, in dry runs too.
func (p *reclaimRights) Validate(ctx context.Context, request admission.Attributes, _ admission.ObjectInterfaces) error {
	set, ok := request.GetObject().(*v1.StatefulSet)
	if !ok || request.GetSubresource() != "" {
		return nil
	}
	old, _ := request.GetOldObject().(*v1.StatefulSet)
	after := reclaimAfter(set)
	if after == nil || old != nil && ptr.Equal(after, reclaimAfter(old)) {
		return nil
	}
	path := field.NewPath("spec", "persistentVolumeClaimRetentionPolicy", "scaledAfterSeconds")
	may, err := userMay(ctx, p.rights, request, "delete", corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims"))
	switch {
	case err != nil:
		return unanswered(path, err)
	case !may:
		return forbidden(request, path, "user %q may not delete \"persistentvolumeclaims\" in namespace %q, and the set would delete them on the user's behalf",
			request.GetUserInfo().GetName(), request.GetNamespace())
	default:
		return nil
	}
}

func reclaimAfter(set *v1.StatefulSet) *int32 {
	if policy := set.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
		return policy.ScaledAfterSeconds
	}
	return nil
}
