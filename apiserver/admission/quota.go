// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"

	"statefulset.dev/registry/statefulset/preflight"
)

// chargedLast makes the quota plugin, which is the last plugin in its order, check the quotas
// first, then try the set in the host cluster, and charge the quotas after that. So a set that
// exceeds a quota is not tried, and a set that the host cluster refuses is not charged. Otherwise
// only the quota controller of the cluster would correct that charge, minutes later.
type chargedLast struct{ admission.ValidationInterface }

// DecorateQuota decorates only the quota plugin.
func DecorateQuota(plugin admission.Interface, name string) admission.Interface {
	if validating, ok := plugin.(admission.ValidationInterface); ok && name == resourcequota.PluginName {
		return chargedLast{validating}
	}
	return plugin
}

// Validate admits a set that fits into the quotas and that the host cluster accepts.
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

// uncharged presents a request as a dry run.
type uncharged struct{ admission.Attributes }

// IsDryRun returns true, so that quotas are checked but not changed.
func (uncharged) IsDryRun() bool { return true }
