// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
)

// Getter returns a getter for the commands of kubectl, in which the names of the built-in kind mean
// our kind. The built-in kind is still available by a name with its group: statefulsets.apps or
// statefulsets.v1.apps.
func Getter(cluster genericclioptions.RESTClientGetter) genericclioptions.RESTClientGetter {
	return getter{cluster}
}

type getter struct {
	genericclioptions.RESTClientGetter
}

func (g getter) ToRESTMapper() (meta.RESTMapper, error) {
	found, err := g.RESTClientGetter.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	return mapper{found}, nil
}

// mapper finds kinds by the words that users type.
type mapper struct {
	meta.RESTMapper
}

func (m mapper) KindFor(word schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return m.RESTMapper.KindFor(preferred(word))
}

func (m mapper) KindsFor(word schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return m.RESTMapper.KindsFor(preferred(word))
}

func (m mapper) ResourceFor(word schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return m.RESTMapper.ResourceFor(preferred(word))
}

func (m mapper) ResourcesFor(word schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return m.RESTMapper.ResourcesFor(preferred(word))
}

// RESTMapping is the last method that kubectl calls to find a kind, after the others have failed.
// So this is where a user of a cluster without our group gets a clear error.
func (m mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if kind.Group == "" && meansOurs(strings.ToLower(kind.Kind)) {
		kind = ours()
	}
	mapping, err := m.RESTMapper.RESTMapping(kind, versions...)
	if meta.IsNoMatchError(err) && kind == ours() {
		return nil, fmt.Errorf("the server does not serve %s; is statefulset-apiserver registered? See: kubectl get apiservice %s.%s",
			v1.Resource(resource), v1.SchemeGroupVersion.Version, v1.GroupName)
	}
	return mapping, err
}

func preferred(word schema.GroupVersionResource) schema.GroupVersionResource {
	if word.Group == "" && meansOurs(word.Resource) {
		return v1.SchemeGroupVersion.WithResource(resource)
	}
	return word
}

// clientOfAppsV1 returns a client for which our sets are sets of apps/v1.
func clientOfAppsV1(cluster genericclioptions.RESTClientGetter) (kubernetes.Interface, error) {
	config, err := configOfAppsV1(cluster)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	return client, nil
}

func configOfAppsV1(cluster genericclioptions.RESTClientGetter) (*rest.Config, error) {
	config, err := cluster.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.Wrap(Transport)
	return config, nil
}
