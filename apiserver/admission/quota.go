// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"

	"statefulset.dev/registry/statefulset/preflight"
)

// chargedLast makes the quota plugin, which is the last in its order, look at the quotas
// first, then try the set on the host, and charge for it after that. A set for which there
// is no room is not tried; and one that the host refuses is not charged for, which would
// be put right only when the host's quota controller counts again, minutes later.
type chargedLast struct{ admission.ValidationInterface }

// DecorateQuota is for the quota plugin only.
func DecorateQuota(plugin admission.Interface, name string) admission.Interface {
	if validating, ok := plugin.(admission.ValidationInterface); ok && name == resourcequota.PluginName {
		return chargedLast{validating}
	}
	return plugin
}

// Validate admits what there is room for and what the host finds no fault in.
func (q chargedLast) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if try, ok := preflight.TrialsOf(ctx); ok {
		if err := q.ValidationInterface.Validate(ctx, uncharged{a}, o); err != nil || a.IsDryRun() {
			return err
		}
		if err := try(); err != nil {
			return err
		}
	}
	return q.ValidationInterface.Validate(ctx, a, o)
}

// uncharged is a request as a dry run.
type uncharged struct{ admission.Attributes }

// IsDryRun makes that quotas are looked at and not changed.
func (uncharged) IsDryRun() bool { return true }
