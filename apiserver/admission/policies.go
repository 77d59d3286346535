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
	// policyPeriod is how often the server asks whether the host cluster serves mutating policies.
	policyPeriod = 30 * time.Second
	// policyGrace limits how long writes are admitted without policies while the server lists the
	// policies of a host cluster that has just started to serve them. A new policy may be ignored
	// for at most policyPeriod plus policyGrace.
	policyGrace = 30 * time.Second
	// policyDoubts is how many times in a row the host cluster must answer that it no longer serves
	// policies before the server stops applying them. During a rolling upgrade of kube-apiserver,
	// old and new replicas answer in turn.
	policyDoubts = 4
)

// policyPlugin is the plugin MutatingAdmissionPolicy for a host cluster that may not serve the
// policies. With such a cluster, below 1.36, the original plugin would never be ready, and would
// refuse every write. This one admits writes there, and starts to apply policies when the cluster
// starts to serve them.
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

// SetExternalKubeInformerFactory stores the informers that the server starts.
func (p *policyPlugin) SetExternalKubeInformerFactory(shared informers.SharedInformerFactory) {
	p.shared = shared
}

// ValidateInitialization gives the plugin informers of policies that start only when the host
// cluster serves policies.
func (p *policyPlugin) ValidateInitialization() error {
	if p.host == nil || p.shared == nil {
		return errors.New("missing the policies or informers of the host cluster")
	}
	p.Plugin.SetExternalKubeInformerFactory(policyInformers{p.shared, p.host.informers})
	return p.Plugin.ValidateInitialization()
}

// Admit applies the policies, if the host cluster serves them.
func (p *policyPlugin) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if !p.host.applied.Load() {
		return nil
	}
	return p.Plugin.Admit(ctx, a, o)
}

// policyInformers are the shared informers, with separate ones for policies.
type policyInformers struct {
	informers.SharedInformerFactory
	policies informers.SharedInformerFactory
}

func (f policyInformers) Admissionregistration() admissionregistration.Interface {
	return f.policies.Admissionregistration()
}

// Policies follows whether the host cluster serves mutating policies.
type Policies struct {
	// serves asks the host cluster.
	serves func(context.Context) (bool, error)
	// informers watch policies and their bindings, and nothing else.
	informers informers.SharedInformerFactory
	synced    []cache.InformerSynced

	// wanted is true if a plugin applies the policies.
	wanted bool
	// applied reports whether writes pass through the policies.
	applied atomic.Bool
	// doubts counts consecutive answers that the host cluster does not serve policies.
	doubts int
}

var _ admission.PluginInitializer = &Policies{}

// FollowPolicies asks the host cluster once. It returns an error if the cluster does not answer,
// because the server must know what the cluster serves before it admits anything.
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

// Initialize gives the policies to the plugin that applies them, if it is enabled.
func (p *Policies) Initialize(plugin admission.Interface) {
	if wants, ok := plugin.(*policyPlugin); ok {
		wants.host, p.wanted = p, true
	}
}

// addTo makes the server follow the host cluster, and be unready until it applies the policies that
// the cluster serves.
func (p *Policies) addTo(config *genericapiserver.Config) error {
	if !p.wanted {
		return nil
	}
	config.AddReadyzChecks(healthz.NamedCheck("policies", func(*http.Request) error { return p.ready() }))
	if err := config.AddPostStartHook("follow-policies", func(hook genericapiserver.PostStartHookContext) error {
		go p.run(hook)
		return nil
	}); err != nil {
		return fmt.Errorf("adding the hook that follows the policies of the host cluster: %w", err)
	}
	return nil
}

func (p *Policies) ready() error {
	if p.applied.Load() && !p.hasSynced() {
		return errors.New("the mutating admission policies of the host cluster have not been listed yet; writes of sets are refused until then")
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
	wait.JitterUntilWithContext(ctx, p.sync, policyPeriod, 0.1, true)
}

// sync asks the host cluster again whether it serves the policies, and follows its answer. Without
// an answer, nothing changes.
func (p *Policies) sync(ctx context.Context) {
	served, err := p.serves(ctx)
	switch {
	case err != nil:
		klog.FromContext(ctx).V(2).Info("Failed to ask the host cluster what it serves; retrying", "err", err)
	case served == p.applied.Load():
		p.doubts = 0
	case served:
		p.begin(ctx)
	default:
		p.end(ctx)
	}
}

// begin admits writes as before until the policies have been listed, so that no write is refused
// meanwhile, but for at most policyGrace. After that, writes are refused until the policies can be
// listed.
func (p *Policies) begin(ctx context.Context) {
	p.informers.Start(ctx.Done())
	limited, cancel := context.WithTimeout(ctx, policyGrace)
	defer cancel()
	if !cache.WaitForCacheSync(limited.Done(), p.synced...) && ctx.Err() == nil {
		klog.FromContext(ctx).Info("The host cluster serves mutating admission policies but has not listed them; writes of sets are refused until it does",
			"waited", policyGrace)
	}
	p.applied.Store(true)
	p.doubts = 0
	p.report(ctx)
}

// end stops applying policies. Their informers keep running: they retry less and less often, and
// are available when the host cluster serves policies again.
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
		klog.FromContext(ctx).Info("Applying the mutating admission policies of the host cluster to sets")
		return
	}
	klog.FromContext(ctx).Info(
		"Not applying mutating admission policies to sets: the host cluster does not serve them in version v1 (Kubernetes 1.36 and later); checking regularly", "every", policyPeriod)
}
