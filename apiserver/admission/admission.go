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

// NewOptions returns the plugins that every API server has by default, two plugins of this project
// about rights, and resource quota, which only kube-apiserver has by default. All but one use only
// APIs that every supported version of Kubernetes serves. That one, for mutating policies, waits
// until the host cluster serves its API.
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
	// The first decorator is the innermost, so that the metrics of the plugin count each call once.
	admissionOptions.Decorators = append(admission.Decorators{admission.DecoratorFunc(DecorateQuota)}, admissionOptions.Decorators...)
	admissionOptions.RecommendedPluginOrder = append(admissionOptions.RecommendedPluginOrder, reclaimPluginName, objectsPluginName,
		resourcequota.PluginName)
	return admissionOptions
}

// quotaInitializer configures what the quota plugin counts. It needs no evaluator: for a resource
// without one, the plugin counts objects under the name "count/statefulsets.apps.statefulset.dev".
// The quota controller of the host cluster counts the objects that exist already.
type quotaInitializer struct{}

var _ admission.PluginInitializer = quotaInitializer{}

func (quotaInitializer) Initialize(plugin admission.Interface) {
	if p, ok := plugin.(initializer.WantsQuotaConfiguration); ok {
		p.SetQuotaConfiguration(generic.NewConfiguration([]quota.Evaluator{}, nil))
	}
}
