// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	mutatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	validatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/apiserver/pkg/server/options"
)

// NewOptions are the plugins that every API server has by default, two of ours about rights,
// and resource quota, which none but kube-apiserver has by default. All but one ask the
// host for what each supported version of Kubernetes serves; that one waits for it.
func NewOptions() *options.AdmissionOptions {
	admissionOptions := options.NewAdmissionOptions()
	admissionOptions.Plugins = admission.NewPlugins()
	lifecycle.Register(admissionOptions.Plugins)
	admissionOptions.Plugins.Register(mutating.PluginName, newPolicyPlugin)
	mutatingwebhook.Register(admissionOptions.Plugins)
	validating.Register(admissionOptions.Plugins)
	validatingwebhook.Register(admissionOptions.Plugins)
	admissionOptions.Plugins.Register(reclaimPluginName, newReclaimRights)
	admissionOptions.Plugins.Register(objectsPluginName, newObjectRights)
	resourcequota.Register(admissionOptions.Plugins)
	// The first decorator is the innermost, so that the metrics of the plugin count once.
	admissionOptions.Decorators = append(admission.Decorators{admission.DecoratorFunc(DecorateQuota)}, admissionOptions.Decorators...)
	admissionOptions.RecommendedPluginOrder = append(admissionOptions.RecommendedPluginOrder, reclaimPluginName, objectsPluginName,
		resourcequota.PluginName)
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
