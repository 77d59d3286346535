// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	// AnchorName is the ConfigMap of the host cluster that names the store that the cluster knows.
	AnchorName = "statefulset-apiserver-store"

	// acceptAnnotation is the annotation by which an operator accepts another store, on the anchor.
	// Its value is the name of that store.
	acceptAnnotation = "apps.statefulset.dev/accept-store"

	anchorStore    = "store"
	anchorMark     = "mark"
	anchorRevision = "revision"

	anchorDescription = "Names the store in which statefulset-apiserver keeps its sets, and the latest mark of that store. Maintained by the server. " +
		"While this object exists, a server that starts with another store, or with an older copy, serves nothing, because otherwise the pods of missing sets would be deleted."

	// anchorTimeout limits a request to the host cluster.
	anchorTimeout = 10 * time.Second
)

// anchor is what the host cluster knows about the store. Users know it as the note.
type anchor struct {
	// store and mark are those of the record. They are empty if the cluster does not know a store
	// yet.
	store, Mark string
	// Revision is the revision of etcd at which the mark was set. It is only for messages.
	Revision int64
	// Accepted is the name of the store that an operator has accepted.
	Accepted string

	object *corev1.ConfigMap // nil if there is none
}

// knows reports whether the store is the one of the anchor and contains its mark.
func (a anchor) knows(s observation) bool { return a.store == s.Store && s.holds(a.Mark, a.uid()) }

// uid is empty if there is no anchor.
func (a anchor) uid() types.UID {
	if a.object == nil {
		return ""
	}
	return a.object.UID
}

// Blank reports whether the cluster does not know a store.
func (a anchor) Blank() bool { return a.store == "" }

// anchors reads and writes the anchor.
type anchors struct {
	client typedcorev1.ConfigMapInterface
}

func newAnchors(client typedcorev1.ConfigMapInterface) anchors { return anchors{client} }

// Read reads the anchor, which is blank if it does not exist.
func (a anchors) Read(ctx context.Context) (anchor, error) {
	ctx, cancel := context.WithTimeout(ctx, anchorTimeout)
	defer cancel()
	object, err := a.client.Get(ctx, AnchorName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return anchor{}, nil
	}
	if err != nil {
		return anchor{}, fmt.Errorf("reading the note about the store: %w", err)
	}
	// If a user has damaged the revision, only a message becomes less helpful.
	revision, _ := strconv.ParseInt(object.Data[anchorRevision], 10, 64)
	return anchor{
		store:    object.Data[anchorStore],
		Mark:     object.Data[anchorMark],
		Revision: revision,
		Accepted: object.Annotations[acceptAnnotation],
		object:   object,
	}, nil
}

// Write records a mark of the store in the anchor. It fails if the anchor has changed since it was
// read.
func (a anchors) Write(ctx context.Context, old anchor, seen observation) error {
	return a.put(ctx, old, map[string]string{
		anchorStore:    seen.Store,
		anchorMark:     seen.Mark,
		anchorRevision: strconv.FormatInt(seen.Marked, 10),
	})
}

// createEmpty creates an anchor without a store, which an operator can annotate.
func (a anchors) createEmpty(ctx context.Context) error { return a.put(ctx, anchor{}, nil) }

func (a anchors) put(ctx context.Context, old anchor, data map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, anchorTimeout)
	defer cancel()
	if old.object == nil {
		_, err := a.client.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: AnchorName, Annotations: map[string]string{"kubernetes.io/description": anchorDescription}},
			Data:       data,
		}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("writing the note about the store: %w", err)
		}
		return nil
	}
	next := old.object.DeepCopy()
	next.Data = data
	delete(next.Annotations, acceptAnnotation)
	if _, err := a.client.Update(ctx, next, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing the note about the store: %w", err)
	}
	return nil
}
