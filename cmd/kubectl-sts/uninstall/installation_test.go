// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "statefulset.dev/api/apps/v1"
)

var errInterrupted = errors.New("interrupted")

// installation is a cluster of objects without anybody at work but the garbage collector.
type installation struct {
	objects *metadatafake.FakeMetadataClient
	host    *fake.Clientset
	// budget is how many writes go through; below zero there is no limit.
	budget int
	writes []string
	out    bytes.Buffer
}

func install(t *testing.T, sets ...string) *installation {
	t.Helper()
	var all []runtime.Object
	for _, o := range slices.Concat(removed(), staying()) {
		all = append(all, partial(kindNames()[o.kind.Resource], o.kind.GroupVersion().String(), namespaceIn(o), o.name))
	}
	for _, name := range sets {
		set := partial("StatefulSet", v1.SchemeGroupVersion.String(), "shop", name)
		pod := partial("Pod", "v1", "shop", name+"-0")
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1.SchemeGroupVersion.String(), Kind: "StatefulSet", Name: name, UID: set.UID}}
		all = append(all, set, pod)
	}
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatalf("building a scheme: %v", err)
	}
	i := &installation{objects: metadatafake.NewSimpleMetadataClient(scheme, all...), host: fake.NewClientset(), budget: -1}
	i.host.Resources = []*metav1.APIResourceList{{GroupVersion: v1.SchemeGroupVersion.String()}}
	i.host.PrependReactor("create", "selfsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: true}}, nil
	})
	i.objects.PrependReactor("*", "*", i.react)
	return i
}

// react counts writes, and does what the garbage collector and the aggregator would.
func (i *installation) react(action clienttesting.Action) (bool, runtime.Object, error) {
	if action.GetVerb() != "delete" && action.GetVerb() != "patch" {
		return false, nil, nil
	}
	if i.budget == 0 {
		return true, nil, errInterrupted
	}
	i.budget--
	name := action.(interface{ GetName() string }).GetName()
	i.writes = append(i.writes, action.GetVerb()+" "+action.GetResource().Resource+"/"+name)
	if action.GetVerb() != "delete" {
		return false, nil, nil
	}
	switch action.GetResource().Resource {
	case "apiservices":
		i.host.Resources = nil
	case "statefulsets":
		i.collect(action.GetNamespace(), name+"-0", *action.(clienttesting.DeleteActionImpl).DeleteOptions.PropagationPolicy)
	}
	return false, nil, nil
}

func (i *installation) collect(namespace, pod string, policy metav1.DeletionPropagation) {
	pods, tracker := kindOf("", "pods"), i.objects.Tracker()
	if policy == metav1.DeletePropagationForeground {
		_ = tracker.Delete(pods, namespace, pod)
		return
	}
	_ = tracker.Update(pods, partial("Pod", "v1", namespace, pod), namespace)
}

func (i *installation) run(t *testing.T, change func(*run)) error {
	t.Helper()
	i.out.Reset()
	r := &run{
		objects: i.objects, host: i.host, system: "statefulset-system", patience: 5 * time.Second, interval: time.Millisecond,
		streams: genericiooptions.IOStreams{Out: &i.out, ErrOut: &i.out},
	}
	if change != nil {
		change(r)
	}
	return r.run(t.Context())
}

func (i *installation) has(t *testing.T, o object) bool {
	t.Helper()
	r := &run{objects: i.objects, system: "statefulset-system"}
	found, err := r.get(t.Context(), o)
	if err != nil {
		t.Fatalf("getting %s: %v", o, err)
	}
	return found != nil
}

func (i *installation) mustBeRemoved(t *testing.T) {
	t.Helper()
	for _, o := range removed() {
		if i.has(t, o) {
			t.Errorf("%s is still there, want it removed", o)
		}
	}
	for _, o := range staying() {
		if !i.has(t, o) {
			t.Errorf("%s is gone, want it to stay", o)
		}
	}
}

func (i *installation) mustBeUntouched(t *testing.T) {
	t.Helper()
	if len(i.writes) > 0 {
		t.Errorf("got writes %q, want none", i.writes)
	}
}

func partial(kind, version, namespace, name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(kind + "-" + name)},
	}
}

func namespaceIn(o object) string { return (&run{system: "statefulset-system"}).namespaceOf(o) }

func kindNames() map[string]string {
	return map[string]string{
		"apiservices": "APIService", "poddisruptionbudgets": "PodDisruptionBudget", "deployments": "Deployment", "services": "Service",
		"clusterroles": "ClusterRole", "clusterrolebindings": "ClusterRoleBinding", "roles": "Role", "rolebindings": "RoleBinding",
		"serviceaccounts": "ServiceAccount", "validatingadmissionpolicies": "ValidatingAdmissionPolicy",
		"validatingadmissionpolicybindings": "ValidatingAdmissionPolicyBinding", "namespaces": "Namespace",
		"persistentvolumeclaims": "PersistentVolumeClaim", "configmaps": "ConfigMap", "secrets": "Secret", "networkpolicies": "NetworkPolicy",
		"flowschemas": "FlowSchema",
	}
}
