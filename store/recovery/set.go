// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// rebuiltSet is a set that was rebuilt from its remains, and what is not certain about it.
type rebuiltSet struct {
	set     *v1.StatefulSet
	guesses []string
}

func (r *rebuiltSet) guess(format string, args ...any) {
	r.guesses = append(r.guesses, fmt.Sprintf(format, args...))
}

// rebuild rebuilds the set from its remains. An error says why that cannot be done without a risk
// for its members.
//
// What neither members nor revisions show is always unknown. It gets its default value, and the set
// is suspended until a user has checked it.
func (r leftovers) rebuild() (rebuiltSet, error) {
	if len(r.pods) == 0 {
		return rebuiltSet{}, errors.New("it has no pods, which would show how many members and which claims it has")
	}
	if len(r.revisions) == 0 {
		return rebuiltSet{}, errors.New("it has no revisions, which would show its template")
	}
	latest := r.revisions[len(r.revisions)-1]
	recorded, err := identity.Recorded(latest.Data.Raw)
	if err != nil {
		return rebuiltSet{}, fmt.Errorf("revision %s: %w", latest.Name, err)
	}
	rebuilt := rebuiltSet{set: &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.namespace, Name: r.name, UID: r.uid, Generation: 1,
			CreationTimestamp: r.revisions[0].CreationTimestamp,
			Annotations:       maps.Clone(latest.Annotations),
		},
		Spec: v1.StatefulSetSpec{Template: *recorded.Template, Identity: recorded.Identity},
	}}
	for _, part := range []func(*rebuiltSet) error{
		r.members, r.serviceName, r.claimTemplates, r.overrides, r.objectTemplates, r.selector, r.currentRevision} {
		if err := part(&rebuilt); err != nil {
			return rebuiltSet{}, err
		}
	}
	rebuilt.guess(
		"podManagementPolicy, updateStrategy (except for a paused update), minReadySeconds, revisionHistoryLimit and the set's labels are the defaults; spec.objectTemplates is empty; annotations are those of revision %s", latest.Name)
	metav1.SetMetaDataAnnotation(&rebuilt.set.ObjectMeta, v1.HoldAnnotation,
		"rebuilt from what the cluster still had of this set; check its spec, then remove this annotation")
	return rebuilt, nil
}

// members determines how many members there are, and the first ordinal.
func (r leftovers) members(rebuilt *rebuiltSet) error {
	var ordinals []int
	for _, pod := range r.pods {
		set, ordinal, ok := identity.ParsePodName(pod.Name)
		if !ok || set != r.name {
			return fmt.Errorf("pod %s does not have the name of a member", pod.Name)
		}
		ordinals = append(ordinals, ordinal)
	}
	first, last := slices.Min(ordinals), slices.Max(ordinals)
	replicas := last - first + 1
	rebuilt.set.Spec.Replicas = new(int32(replicas))
	if first > 0 {
		rebuilt.set.Spec.Ordinals = &v1.StatefulSetOrdinals{Start: int32(first)}
	}
	missing := ""
	if replicas != len(ordinals) {
		missing = fmt.Sprintf(", although %d of these are missing; if they were reserved, set spec.ordinals.reserved and lower spec.replicas",
			replicas-len(ordinals))
	}
	rebuilt.guess("members are the ordinals %d to %d, because these have pods%s", first, last, missing)
	return nil
}

// serviceName is taken from the pod that was created last: members keep the service name that the
// set had when they were created.
func (r leftovers) serviceName(rebuilt *rebuiltSet) error {
	latest := slices.MaxFunc(r.pods, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	rebuilt.set.Spec.ServiceName = latest.Spec.Subdomain
	for _, pod := range r.pods {
		if pod.Spec.Subdomain != latest.Spec.Subdomain {
			rebuilt.guess("serviceName is %q, as in pod %s, which was created last; pod %s has %q", latest.Spec.Subdomain, latest.Name,
				pod.Name, pod.Spec.Subdomain)
			break
		}
	}
	return nil
}

// overrides are lost: the only remains of an override are a pod that differs. Without the override,
// the controller would recreate the pod like all others.
func (r leftovers) overrides(rebuilt *rebuiltSet) error {
	for _, pod := range r.pods {
		if _, overridden := pod.Annotations[v1.OverrideAnnotation]; overridden {
			rebuilt.guess(
				"spec.overrides are lost, and pod %s was created with one; add it before you remove the hold annotation, or the member is recreated without it", pod.Name)
			break
		}
	}
	return nil
}

// selector consists of the labels that the template, all pods and the claims have in common. The
// claims, if there are any, narrow it down to the original selector.
func (r leftovers) selector(rebuilt *rebuiltSet) error {
	common := maps.Clone(rebuilt.set.Spec.Template.Labels)
	keep := func(of map[string]string) {
		maps.DeleteFunc(common, func(key, value string) bool { return of[key] != value })
	}
	for _, pod := range r.pods {
		keep(pod.Labels)
	}
	certain := len(rebuilt.set.Spec.VolumeClaimTemplates) > 0
	for i := range rebuilt.set.Spec.VolumeClaimTemplates {
		claim := &rebuilt.set.Spec.VolumeClaimTemplates[i]
		keep(claim.Labels)
	}
	if len(common) == 0 {
		return errors.New("its template, pods and claims have no label in common, so its selector is not known")
	}
	rebuilt.set.Spec.Selector = &metav1.LabelSelector{MatchLabels: common}
	for i := range rebuilt.set.Spec.VolumeClaimTemplates {
		claim := &rebuilt.set.Spec.VolumeClaimTemplates[i]
		maps.DeleteFunc(claim.Labels, func(key, value string) bool { return common[key] == value })
	}
	from := "labels that the template and all pods have"
	if certain {
		from = "labels that the template, all pods and the claims have"
	}
	rebuilt.guess("selector is %s, the %s", labels.Set(common), from)
	return nil
}

// currentRevision keeps an unfinished update at its position, and pauses it: the remains do not
// show whether the update was aborted, or failed and was rolled back.
func (r leftovers) currentRevision(rebuilt *rebuiltSet) error {
	update := r.revisions[len(r.revisions)-1].Name
	current := update
	for _, pod := range r.pods {
		revision := pod.Labels[identity.RevisionLabel]
		known := slices.ContainsFunc(r.revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == revision })
		switch {
		case !known:
			return fmt.Errorf("pod %s was created from revision %q, which no longer exists", pod.Name, revision)
		case revision == update || revision == current:
		case current != update:
			return fmt.Errorf("its pods were created from more than two revisions: %s, %s and %s", update, current, revision)
		default:
			current = revision
		}
	}
	rebuilt.set.Status.CurrentRevision, rebuilt.set.Status.UpdateRevision = current, update
	if current != update {
		rebuilt.set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{
			Type:          v1.RollingUpdateStatefulSetStrategyType,
			RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{Paused: new(true)},
		}
		rebuilt.guess(
			"an update from revision %s to %s is not complete; it is paused, because it may have been aborted or rolled back: kubectl sts rollout resume continues it, kubectl sts rollout undo returns the set to the template of %s",
			current, update, current)
	}
	return nil
}

// claimTemplates derives them from the volumes of the pods.
func (r leftovers) claimTemplates(rebuilt *rebuiltSet) error {
	for _, volume := range r.pods[0].Spec.Volumes {
		inTemplate := slices.ContainsFunc(rebuilt.set.Spec.Template.Spec.Volumes,
			func(v corev1.Volume) bool { return equality.Semantic.DeepEqual(v, volume) })
		if inTemplate || !r.isMemberClaim(volume.Name) {
			continue
		}
		claim := r.claims[volume.PersistentVolumeClaim.ClaimName]
		if claim == nil {
			return fmt.Errorf("claim %s of pod %s no longer exists, so its template is not known", volume.PersistentVolumeClaim.ClaimName, r.pods[0].Name)
		}
		rebuilt.set.Spec.VolumeClaimTemplates = append(rebuilt.set.Spec.VolumeClaimTemplates, claimTemplate(volume.Name, claim))
		rebuilt.guess("claim template %s is like claim %s, including its storage class", volume.Name, claim.Name)
	}
	for _, claim := range r.ownedClaims {
		if slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == r.uid }) {
			rebuilt.set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: v1.DeletePersistentVolumeClaimRetentionPolicyType,
			}
			rebuilt.guess("whenDeleted is Delete, because claim %s has the set as its owner; whenScaled is Retain", claim.Name)
			break
		}
	}
	return nil
}

// isMemberClaim reports whether in every pod the volume with this name mounts the claim that is
// named after volume and pod.
func (r leftovers) isMemberClaim(name string) bool {
	for _, pod := range r.pods {
		i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
		if i < 0 || pod.Spec.Volumes[i].PersistentVolumeClaim == nil || pod.Spec.Volumes[i].PersistentVolumeClaim.ClaimName != name+"-"+pod.Name {
			return false
		}
	}
	return true
}

// claimTemplate removes what a claim gets from the cluster.
func claimTemplate(name string, claim *corev1.PersistentVolumeClaim) corev1.PersistentVolumeClaim {
	template := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: maps.Clone(claim.Labels), Annotations: maps.Clone(claim.Annotations)},
		Spec:       *claim.Spec.DeepCopy(),
	}
	template.Spec.VolumeName = ""
	maps.DeleteFunc(template.Annotations, func(key, _ string) bool {
		prefix, _, _ := strings.Cut(key, "/")
		return strings.HasSuffix(prefix, "kubernetes.io") || identity.IsReserved(key) // these belong to one claim
	})
	return template
}
