// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/describe"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/kubectl/pkg/scheme"

	v1 "statefulset.dev/api/apps/v1"
)

// Install makes our kind known to the commands of kubectl. Call it once at the beginning of a
// program: the variables that it sets are shared by all commands in the process.
//
// It does not change expose. kubectl also refuses expose for the kind of apps/v1, and with our type
// in its scheme it refuses ours with the same message.
func Install() {
	// port-forward decodes with the scheme of client-go, all other commands with kubectl's own scheme.
	for _, types := range []*runtime.Scheme{scheme.Scheme, clientscheme.Scheme} {
		types.AddKnownTypes(v1.SchemeGroupVersion, v1.Types()...)
		metav1.AddToGroupVersion(types, v1.SchemeGroupVersion)
	}
	polymorphichelpers.UpdatePodSpecForObjectFn = updatePodSpec(polymorphichelpers.UpdatePodSpecForObjectFn)
	polymorphichelpers.ObjectRestarterFn = restarter(polymorphichelpers.ObjectRestarterFn)
	polymorphichelpers.ObjectPauserFn = pauser(polymorphichelpers.ObjectPauserFn)
	polymorphichelpers.ObjectResumerFn = polymorphichelpers.ObjectResumerFunc(
		resumer(polymorphichelpers.ObjectPauserFunc(polymorphichelpers.ObjectResumerFn)))
	polymorphichelpers.StatusViewerFn = statusViewer(polymorphichelpers.StatusViewerFn)
	polymorphichelpers.HistoryViewerFn = historyViewer(polymorphichelpers.HistoryViewerFn)
	polymorphichelpers.RollbackerFn = rollbacker(polymorphichelpers.RollbackerFn)
	polymorphichelpers.LogsForObjectFn = polymorphichelpers.LogsForObjectFunc(logs(polymorphichelpers.LogsForObjectFn))
	polymorphichelpers.AllPodLogsForObjectFn = polymorphichelpers.AllPodLogsForObjectFunc(logs(polymorphichelpers.AllPodLogsForObjectFn))
	polymorphichelpers.AttachablePodForObjectFn = attachablePod(polymorphichelpers.AttachablePodForObjectFn)
	describe.DescriberFn = describer(describe.DescriberFn)
}

func updatePodSpec(others polymorphichelpers.UpdatePodSpecForObjectFunc) polymorphichelpers.UpdatePodSpecForObjectFunc {
	return func(object runtime.Object, update func(*corev1.PodSpec) error) (bool, error) {
		if set, ok := object.(*v1.StatefulSet); ok {
			return true, update(&set.Spec.Template.Spec)
		}
		return others(object, update)
	}
}

// restarter lets kubectl annotate a stand-in that has only the metadata of the template, so that it
// has no field that apps/v1 does not have.
func restarter(others polymorphichelpers.ObjectRestarterFunc) polymorphichelpers.ObjectRestarterFunc {
	return func(object runtime.Object) ([]byte, error) {
		set, ok := object.(*v1.StatefulSet)
		if !ok {
			return others(object)
		}
		standIn, err := asBuiltIn(&v1.StatefulSet{Spec: v1.StatefulSetSpec{
			Template: corev1.PodTemplateSpec{ObjectMeta: set.Spec.Template.ObjectMeta},
		}})
		if err != nil {
			return nil, err
		}
		if _, err := others(standIn); err != nil {
			return nil, err
		}
		set.Spec.Template.Annotations = standIn.Spec.Template.Annotations
		return encoded(set)
	}
}

func historyViewer(others polymorphichelpers.HistoryViewerFunc) polymorphichelpers.HistoryViewerFunc {
	return func(cluster genericclioptions.RESTClientGetter, mapping *meta.RESTMapping) (polymorphichelpers.HistoryViewer, error) {
		if mapping.GroupVersionKind.GroupKind() != ours() {
			return others(cluster, mapping)
		}
		client, err := clientOfAppsV1(cluster)
		if err != nil {
			return nil, err
		}
		return polymorphichelpers.HistoryViewerFor(builtIn(), client)
	}
}

// logsFunc is the type that kubectl's two functions for logs share.
type logsFunc = func(cluster genericclioptions.RESTClientGetter, object, options runtime.Object, timeout time.Duration,
	allContainers bool) (map[corev1.ObjectReference]rest.ResponseWrapper, error)

func logs(others logsFunc) logsFunc {
	return func(cluster genericclioptions.RESTClientGetter, object, options runtime.Object, timeout time.Duration,
		allContainers bool) (map[corev1.ObjectReference]rest.ResponseWrapper, error) {
		object, err := known(object)
		if err != nil {
			return nil, err
		}
		return others(cluster, object, options, timeout, allContainers)
	}
}

func attachablePod(others polymorphichelpers.AttachablePodForObjectFunc) polymorphichelpers.AttachablePodForObjectFunc {
	return func(cluster genericclioptions.RESTClientGetter, object runtime.Object, timeout time.Duration) (*corev1.Pod, error) {
		object, err := known(object)
		if err != nil {
			return nil, err
		}
		return others(cluster, object, timeout)
	}
}

// known returns an object whose pods kubectl can find: for one of our sets, a set of apps/v1 with
// the same selector.
func known(object runtime.Object) (runtime.Object, error) {
	if set, ok := object.(*v1.StatefulSet); ok {
		return asBuiltIn(set)
	}
	return object, nil
}
