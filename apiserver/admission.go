// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/apiserver/pkg/server/options"
)

// newAdmissionOptions are the plugins that every API server has by default, and
// resource quota, which none but kube-apiserver has by default.
func newAdmissionOptions() *options.AdmissionOptions {
	admissionOptions := options.NewAdmissionOptions()
	resourcequota.Register(admissionOptions.Plugins)
	admissionOptions.RecommendedPluginOrder = append(admissionOptions.RecommendedPluginOrder, resourcequota.PluginName)
	return admissionOptions
}

// quotaInitializer tells the quota plugin what counts. It needs no evaluator of
// ours: for a resource without one it counts objects, under the name
// "count/statefulsets.apps.statefulset.dev". What exists already is counted by
// the quota controller of the host.
type quotaInitializer struct{}

var _ admission.PluginInitializer = quotaInitializer{}

func (quotaInitializer) Initialize(plugin admission.Interface) {
	if p, ok := plugin.(initializer.WantsQuotaConfiguration); ok {
		p.SetQuotaConfiguration(generic.NewConfiguration([]quota.Evaluator{}, nil))
	}
}
