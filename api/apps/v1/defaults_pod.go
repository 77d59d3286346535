// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// The defaults of a pod template. The host cluster applies the same defaults to a pod that is
// created from the template, but the template itself must be stored with them. The data of a
// revision, and so its name, is computed from the defaulted template. Without the defaults, the
// template would also differ from one that apps/v1 stored. The generated code in
// zz_generated.defaults.go walks the template and calls these functions; the generator requires
// their names.

import (
	"time"

	_ "crypto/sha256" // image digests are checked with it
	_ "crypto/sha512" // likewise

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

// SetDefaults_PodSpec fills the fields of a pod that have a fixed default.
func SetDefaults_PodSpec(spec *corev1.PodSpec) {
	if spec.ServiceAccountName == "" {
		spec.ServiceAccountName = spec.DeprecatedServiceAccount
	}
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	setIfEmpty(&spec.DNSPolicy, corev1.DNSClusterFirst)
	setIfEmpty(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	setIfEmpty(&spec.SchedulerName, corev1.DefaultSchedulerName)
	setIfNil(&spec.SecurityContext, corev1.PodSecurityContext{})
	setIfNil(&spec.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
}

// SetDefaults_Container sets the pull policy of a container, from its image, and the defaults for
// its termination message.
func SetDefaults_Container(container *corev1.Container) {
	setIfEmpty(&container.ImagePullPolicy, pullPolicyFor(container.Image))
	setIfEmpty(&container.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setIfEmpty(&container.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
}

// SetDefaults_EphemeralContainer sets the defaults of SetDefaults_Container for an ephemeral
// container.
func SetDefaults_EphemeralContainer(container *corev1.EphemeralContainer) {
	SetDefaults_Container((*corev1.Container)(&container.EphemeralContainerCommon))
}

// pullPolicyFor is the default pull policy of an image: Always if its tag may move, which applies
// to the tag "latest" and to an image without a tag. An image reference that cannot be parsed has
// no tag that may move; the host cluster rejects it with its own error.
func pullPolicyFor(image string) corev1.PullPolicy {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return corev1.PullIfNotPresent
	}
	if reference.IsNameOnly(named) {
		return corev1.PullAlways
	}
	if tagged, ok := named.(reference.Tagged); ok && tagged.Tag() == "latest" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// SetDefaults_Probe fills a probe's timing, in seconds and in tries.
func SetDefaults_Probe(probe *corev1.Probe) {
	setIfEmpty(&probe.TimeoutSeconds, 1)
	setIfEmpty(&probe.PeriodSeconds, 10)
	setIfEmpty(&probe.SuccessThreshold, 1)
	setIfEmpty(&probe.FailureThreshold, 3)
}

// SetDefaults_HTTPGetAction fills path and scheme of a request.
func SetDefaults_HTTPGetAction(action *corev1.HTTPGetAction) {
	setIfEmpty(&action.Path, "/")
	setIfEmpty(&action.Scheme, corev1.URISchemeHTTP)
}

// SetDefaults_ObjectFieldSelector sets the API version of a field path.
func SetDefaults_ObjectFieldSelector(selector *corev1.ObjectFieldSelector) {
	setIfEmpty(&selector.APIVersion, "v1")
}

// SetDefaults_ResourceList rounds quantities up to thousandths, the smallest unit that Kubernetes
// stores.
func SetDefaults_ResourceList(list *corev1.ResourceList) {
	for name, quantity := range *list {
		quantity.RoundUp(resource.Milli)
		(*list)[name] = quantity
	}
}

// SetDefaults_Volume makes a volume without a source an empty directory, and sets the pull policy
// of an image volume.
func SetDefaults_Volume(volume *corev1.Volume) {
	if ptr.AllPtrFieldsNil(&volume.VolumeSource) {
		volume.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if volume.Image != nil {
		setIfEmpty(&volume.Image.PullPolicy, pullPolicyFor(volume.Image.Reference))
	}
}

// SetDefaults_HostPathVolumeSource makes "no check" the explicit type.
func SetDefaults_HostPathVolumeSource(source *corev1.HostPathVolumeSource) {
	setIfNil(&source.Type, corev1.HostPathUnset)
}

// SetDefaults_SecretVolumeSource fills the mode of the files.
func SetDefaults_SecretVolumeSource(source *corev1.SecretVolumeSource) {
	setIfNil(&source.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
}

// SetDefaults_ConfigMapVolumeSource fills the mode of the files.
func SetDefaults_ConfigMapVolumeSource(source *corev1.ConfigMapVolumeSource) {
	setIfNil(&source.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
}

// SetDefaults_DownwardAPIVolumeSource fills the mode of the files.
func SetDefaults_DownwardAPIVolumeSource(source *corev1.DownwardAPIVolumeSource) {
	setIfNil(&source.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
}

// SetDefaults_ProjectedVolumeSource fills the mode of the files.
func SetDefaults_ProjectedVolumeSource(source *corev1.ProjectedVolumeSource) {
	setIfNil(&source.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
}

// SetDefaults_ServiceAccountTokenProjection sets the lifetime of a token to one hour.
func SetDefaults_ServiceAccountTokenProjection(projection *corev1.ServiceAccountTokenProjection) {
	setIfNil(&projection.ExpirationSeconds, int64(time.Hour/time.Second))
}

// SetDefaults_PersistentVolumeClaimSpec makes a file system the explicit mode.
func SetDefaults_PersistentVolumeClaimSpec(spec *corev1.PersistentVolumeClaimSpec) {
	setIfNil(&spec.VolumeMode, corev1.PersistentVolumeFilesystem)
}

func setIfEmpty[T comparable](field *T, value T) {
	var empty T
	if *field == empty {
		*field = value
	}
}

func setIfNil[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
