// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
)

// revisionsInAPage is how many revisions are listed at a time. Each holds a template.
const revisionsInAPage = 20

// revisionsKind selects all revisions: DaemonSets have some too, and no label distinguishes them.
// They are kept until the history is full.
func revisionsKind(host kubernetes.Interface) kind {
	return kind{
		resource: revisionsResource,
		group:    appsv1.GroupName,
		noun:     "revision",
		newInformer: func() cache.SharedIndexInformer {
			return appsinformers.NewFilteredControllerRevisionInformer(host, metav1.NamespaceAll, 0, cache.Indexers{}, hostread.RequireQuorumList)
		},
		page:       revisionsInAPage,
		trim:       trimmed(trimRevision),
		controlled: true,
		indexes: cache.Indexers{
			byRevisionBase: hostread.IndexBy(func(revision *appsv1.ControllerRevision) []string {
				if base, ok := baseOfRevision(revision); ok {
					return []string{hostread.IndexKey(revision, base)}
				}
				return nil
			}),
			byOrphanage: hostread.IndexBy(func(revision *appsv1.ControllerRevision) []string {
				if metav1.GetControllerOfNoCopy(revision) != nil {
					return nil
				}
				return []string{revision.GetNamespace()}
			}),
			byBucket: indexStubs[bucketed](baseOfRevision),
		},
		concerns: setsOfRevision,
		changed:  differing(revisionChanged),
		endpoint: newEndpoint[*appsv1.ControllerRevision, *appsv1.ControllerRevisionList](host.AppsV1().ControllerRevisions),
	}
}

// setsOfRevision are the sets that may need the revision's name, and those that may adopt it.
func setsOfRevision(v view, revision metav1.Object) []*v1.StatefulSet {
	var all []*v1.StatefulSet
	if base, ok := baseOfRevision(revision); ok {
		all = append(all, find[*v1.StatefulSet](v, setsResource, byRevisionBase, hostread.IndexKey(revision, base))...)
	}
	if metav1.GetControllerOfNoCopy(revision) == nil {
		for _, set := range find[*v1.StatefulSet](v, setsResource, byNamespace, revision.GetNamespace()) {
			if matches(set, revision.GetLabels()) {
				all = append(all, set)
			}
		}
	}
	return all
}

// matches reports whether the set's selector matches. An invalid selector matches nothing.
func matches(set *v1.StatefulSet, of map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(of))
}

// baseOfRevision removes the hash from the name of a revision. A hash contains no dash.
func baseOfRevision(revision metav1.Object) (string, bool) {
	name := revision.GetName()
	dash := strings.LastIndexByte(name, '-')
	if dash < 0 {
		return "", false
	}
	return name[:dash], true
}

func revisionChanged(before, after *appsv1.ControllerRevision) bool {
	return before.Revision != after.Revision || hostread.MetaChanged(before.ObjectMeta, after.ObjectMeta)
}

// trimRevision keeps only stubs of revisions that another controller owns. A revision of another
// StatefulSet, such as the built-in one of the same name, may have the data that one of our sets
// needs under that name. Of all others, only the name counts.
func trimRevision(v view, revision *appsv1.ControllerRevision) any {
	controller := metav1.GetControllerOfNoCopy(revision)
	base, named := baseOfRevision(revision)
	switch {
	case controller == nil, isOurs(controller):
	case controller.Kind != v1.Kind || !named:
		return newStub(revision)
	case !v.has(setsResource, byRevisionBase, hostread.IndexKey(revision, base)):
		return newUsableStub(revision)
	}
	return &appsv1.ControllerRevision{
		ObjectMeta: hostread.TrimMeta(&revision.ObjectMeta),
		Data:       revision.Data,
		Revision:   revision.Revision,
	}
}

// isOurs reports whether a reference is to a set of our API group, in any version.
func isOurs(owner *metav1.OwnerReference) bool {
	group, _, _ := strings.Cut(owner.APIVersion, "/")
	return group == v1.GroupName && owner.Kind == v1.Kind
}
