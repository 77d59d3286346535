// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/identity"
)

// ourResource is the unambiguous name of our sets in kubectl.
const ourResource = "statefulsets." + v1.GroupName

var (
	errNoSet         = errors.New("no such set exists, neither in apps/v1 nor in " + v1.GroupName)
	errNothingToUndo = errors.New("no unfinished move was found, so there is nothing to undo")
)

// cluster has the clients for the cluster of the sets.
type cluster struct {
	host    kubernetes.Interface
	sets    versioned.Interface
	dynamic dynamic.Interface
}

func connect(config *rest.Config) (cluster, error) {
	var c cluster
	var err error
	// JSON, because the protobuf encoding drops the kinds of claim templates, so that sets would seem
	// to differ in them.
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	if c.host, err = kubernetes.NewForConfig(config); err != nil {
		return c, fmt.Errorf("creating the client for the cluster: %w", err)
	}
	if c.sets, err = versioned.NewForConfig(config); err != nil {
		return c, fmt.Errorf("creating the client for %s: %w", v1.GroupName, err)
	}
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return c, fmt.Errorf("creating the dynamic client: %w", err)
	}
	return c, nil
}

// serves returns an error if the cluster does not serve our API.
func (c cluster) serves() error {
	if _, err := c.sets.Discovery().ServerResourcesForGroupVersion(v1.SchemeGroupVersion.String()); err != nil {
		return fmt.Errorf("the cluster does not serve %s (see kubectl get apiservice v1.%s): %w", v1.SchemeGroupVersion, v1.GroupName, err)
	}
	return nil
}

// observe reads both sets of a name with their members.
func (c cluster) observe(ctx context.Context, key types.NamespacedName) (situation, error) {
	var s situation
	var err error
	if s.theirs, err = c.host.AppsV1().StatefulSets(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
		s.theirs = nil
	} else if err != nil {
		return s, fmt.Errorf("getting the apps/v1 set: %w", err)
	}
	if err := c.observeOurs(ctx, key, &s); err != nil {
		return s, err
	}
	if s.ours == nil && s.theirs == nil {
		return s, nil
	}
	return s, c.observeMembers(ctx, key, &s)
}

// observeOurs also keeps the bytes of the answer, because this program may be older than the server
// and not know all fields.
func (c cluster) observeOurs(ctx context.Context, key types.NamespacedName, s *situation) error {
	stored, err := c.sets.AppsV1().RESTClient().Get().Namespace(key.Namespace).Resource("statefulsets").Name(key.Name).
		SetHeader("Accept", "application/json").Do(ctx).Raw()
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("getting the %s set: %w", v1.GroupName, err)
	}
	ours := &v1.StatefulSet{}
	if err := json.Unmarshal(stored, ours); err != nil {
		return fmt.Errorf("reading the %s set: %w", v1.GroupName, err)
	}
	s.ours, s.stored = ours, stored
	return nil
}

func (c cluster) observeMembers(ctx context.Context, key types.NamespacedName, s *situation) error {
	selector, templates := s.wanted()
	options := metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(selector)}
	pods, err := c.host.CoreV1().Pods(key.Namespace).List(ctx, options)
	if err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	for _, pod := range pods.Items {
		if set, _, ok := identity.ParsePodName(pod.Name); ok && set == key.Name {
			s.pods = append(s.pods, pod)
		}
	}
	revisions, err := c.host.AppsV1().ControllerRevisions(key.Namespace).List(ctx, options)
	if err != nil {
		return fmt.Errorf("listing revisions: %w", err)
	}
	for _, revision := range revisions.Items {
		if owner := metav1.GetControllerOfNoCopy(&revision); owner == nil || owner.Kind == v1.Kind && owner.Name == key.Name {
			s.revisions = append(s.revisions, revision)
		}
	}
	return c.observeClaims(ctx, key, templates, s)
}

// observeClaims finds claims by their names, which begin with the names of the templates.
func (c cluster) observeClaims(ctx context.Context, key types.NamespacedName, templates []corev1.PersistentVolumeClaim,
	s *situation) error {
	if len(templates) == 0 {
		return nil
	}
	claims, err := c.host.CoreV1().PersistentVolumeClaims(key.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing claims: %w", err)
	}
	for _, claim := range claims.Items {
		if _, _, ok := identity.ParseClaimName(claim.Name, key.Name, templates); ok {
			s.claims = append(s.claims, claim)
		}
	}
	return nil
}

// wanted returns the selector and the claim templates of the set that exists.
func (s *situation) wanted() (*metav1.LabelSelector, []corev1.PersistentVolumeClaim) {
	if s.theirs != nil {
		return s.theirs.Spec.Selector, s.theirs.Spec.VolumeClaimTemplates
	}
	return s.ours.Spec.Selector, s.ours.Spec.VolumeClaimTemplates
}

func orphaning(object metav1.Object) metav1.DeleteOptions {
	orphan := metav1.DeletePropagationOrphan
	uid, version := object.GetUID(), object.GetResourceVersion()
	return metav1.DeleteOptions{
		PropagationPolicy: &orphan,
		Preconditions:     &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
	}
}
