// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/admissionregistration"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"statefulset.dev/apiserver/hostcluster"
)

const (
	// policyPeriod is how often the host is asked whether it serves mutating policies.
	policyPeriod = 30 * time.Second
	// policyGrace bounds how long writes are admitted without policies while those of
	// a host that has just begun to serve them are listed. Together with policyPeriod
	// it is how long a policy may exist and not be applied.
	policyGrace = 30 * time.Second
	// policyDoubts is how many times in a row a host must say that it no longer serves
	// policies until they are no longer applied. While the replicas of a host are
	// replaced one by one, old and new ones answer in turn.
	policyDoubts = 4
)

// policyPlugin is the plugin MutatingAdmissionPolicy for a host that may not serve
// what the plugin lists. On such a host, one below 1.36, the plugin itself would
// never be ready, and would refuse every write. This one admits there, and begins to
// apply policies when the host begins to serve them.
type policyPlugin struct {
	*mutating.Plugin
	host   *Policies
	shared informers.SharedInformerFactory
}

var _ admission.MutationInterface = &policyPlugin{}

func newPolicyPlugin(config io.Reader) (admission.Interface, error) {
	plugin, err := mutating.NewPlugin(config)
	return &policyPlugin{Plugin: plugin}, err
}

// SetExternalKubeInformerFactory takes the informers that the server starts by itself.
func (p *policyPlugin) SetExternalKubeInformerFactory(shared informers.SharedInformerFactory) {
	p.shared = shared
}

// ValidateInitialization gives the plugin informers of policies that are started only
// when the host serves them.
func (p *policyPlugin) ValidateInitialization() error {
	if p.host == nil || p.shared == nil {
		return errors.New("missing the host's policies or informers")
	}
	p.Plugin.SetExternalKubeInformerFactory(policyInformers{p.shared, p.host.informers})
	return p.Plugin.ValidateInitialization()
}

// Admit applies the policies of a host that serves them.
func (p *policyPlugin) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if !p.host.applied.Load() {
		return nil
	}
	return p.Plugin.Admit(ctx, a, o)
}

// policyInformers are the shared ones but for those of policies.
type policyInformers struct {
	informers.SharedInformerFactory
	policies informers.SharedInformerFactory
}

func (f policyInformers) Admissionregistration() admissionregistration.Interface {
	return f.policies.Admissionregistration()
}

// Policies follows whether the host serves mutating policies.
type Policies struct {
	// serves asks the host.
	serves func(context.Context) (bool, error)
	// informers are those of policies and their bindings, and of nothing else.
	informers informers.SharedInformerFactory
	synced    []cache.InformerSynced

	// wanted is true when a plugin applies what is followed here.
	wanted bool
	// applied says whether writes pass through the policies.
	applied atomic.Bool
	// doubts counts the answers, in a row, by which they should not.
	doubts int
}

var _ admission.PluginInitializer = &Policies{}

// FollowPolicies asks the host once. An error is one of the host: it must have said
// what it serves before anything is admitted.
func FollowPolicies(ctx context.Context, host *hostcluster.Host) (*Policies, error) {
	p := newPolicies(host.ServesPolicies, informers.NewSharedInformerFactory(host.Watching, hostcluster.NoResync))
	served, err := p.serves(ctx)
	if err != nil {
		return nil, err
	}
	p.applied.Store(served)
	p.report(ctx)
	return p, nil
}

func newPolicies(serves func(context.Context) (bool, error), factory informers.SharedInformerFactory) *Policies {
	kinds := factory.Admissionregistration().V1()
	return &Policies{
		serves:    serves,
		informers: factory,
		synced: []cache.InformerSynced{
			kinds.MutatingAdmissionPolicies().Informer().HasSynced,
			kinds.MutatingAdmissionPolicyBindings().Informer().HasSynced,
		},
	}
}

// Initialize hands the policies to the plugin that applies them, if it is enabled.
func (p *Policies) Initialize(plugin admission.Interface) {
	if wants, ok := plugin.(*policyPlugin); ok {
		wants.host, p.wanted = p, true
	}
}

// AddTo makes the server follow the host, and be unready until what the host serves
// is applied.
func (p *Policies) addTo(config *genericapiserver.Config) error {
	if !p.wanted {
		return nil
	}
	config.AddReadyzChecks(healthz.NamedCheck("policies", func(*http.Request) error { return p.ready() }))
	if err := config.AddPostStartHook("follow-policies", func(hook genericapiserver.PostStartHookContext) error {
		go p.run(hook)
		return nil
	}); err != nil {
		return fmt.Errorf("adding the hook that follows the host's policies: %w", err)
	}
	return nil
}

func (p *Policies) ready() error {
	if p.applied.Load() && !p.hasSynced() {
		return errors.New("the mutating admission policies of the host have not been listed yet; until then no set is written")
	}
	return nil
}

func (p *Policies) hasSynced() bool {
	for _, synced := range p.synced {
		if !synced() {
			return false
		}
	}
	return true
}

func (p *Policies) run(ctx context.Context) {
	if p.applied.Load() {
		p.informers.Start(ctx.Done())
	}
	wait.JitterUntilWithContext(ctx, p.look, policyPeriod, 0.1, true)
}

// look asks the host again, and follows it. A host that does not answer has not said
// anything new.
func (p *Policies) look(ctx context.Context) {
	served, err := p.serves(ctx)
	switch {
	case err != nil:
		klog.FromContext(ctx).V(2).Info("Could not ask what the host cluster serves; will ask again", "err", err)
	case served == p.applied.Load():
		p.doubts = 0
	case served:
		p.begin(ctx)
	default:
		p.end(ctx)
	}
}

// begin admits writes as before until the policies have been listed, so that nobody
// is refused, but no longer than policyGrace: a policy that cannot be listed refuses.
func (p *Policies) begin(ctx context.Context) {
	p.informers.Start(ctx.Done())
	limited, cancel := context.WithTimeout(ctx, policyGrace)
	defer cancel()
	if !cache.WaitForCacheSync(limited.Done(), p.synced...) && ctx.Err() == nil {
		klog.FromContext(ctx).Info("The host cluster serves mutating admission policies and does not list them; until it does, no set is written",
			"waited", policyGrace)
	}
	p.applied.Store(true)
	p.doubts = 0
	p.report(ctx)
}

// end stops applying policies. Their informers stay: they ask the host ever more
// rarely, and are there when it serves policies again.
func (p *Policies) end(ctx context.Context) {
	if p.doubts++; p.doubts < policyDoubts {
		return
	}
	p.applied.Store(false)
	p.doubts = 0
	p.report(ctx)
}

func (p *Policies) report(ctx context.Context) {
	if p.applied.Load() {
		klog.FromContext(ctx).Info("Mutating admission policies of the host cluster are applied to sets")
		return
	}
	klog.FromContext(ctx).Info(
		"Mutating admission policies are not applied to sets: the host cluster does not serve them in version v1, which Kubernetes has from 1.36 on; it is asked again", "every", policyPeriod)
}
