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
	// AnchorName is the ConfigMap of the host cluster that says which store the
	// cluster knows.
	AnchorName = "statefulset-apiserver-store"

	// acceptAnnotation is how an operator says, on the anchor, that another store is
	// the right one from now on. Its value is that store's name.
	acceptAnnotation = "apps.statefulset.dev/accept-store"

	anchorStore    = "store"
	anchorMark     = "mark"
	anchorRevision = "revision"

	anchorDescription = "Which store statefulset-apiserver keeps its sets in, and how far that store has come. Kept by the server. " +
		"While it is here, a server that is started with another store, or with an older copy, serves nothing instead of letting the pods of missing sets be deleted."

	// anchorTimeout bounds a question to the host.
	anchorTimeout = 10 * time.Second
)

// anchor is what the host cluster knows about the store.
type anchor struct {
	// store and mark are those of the record. They are empty if the cluster knows no
	// store yet.
	store, Mark string
	// Revision is etcd's at which the mark was set. It is for people.
	Revision int64
	// Accepted is the name of the store that an operator has accepted.
	Accepted string

	object *corev1.ConfigMap // nil if there is none
}

// knows reports whether the store is the one of the anchor and has come as far.
func (a anchor) knows(s observation) bool { return a.store == s.Store && s.holds(a.Mark, a.uid()) }

// uid is empty if there is no anchor.
func (a anchor) uid() types.UID {
	if a.object == nil {
		return ""
	}
	return a.object.UID
}

// Blank reports whether the cluster knows no store.
func (a anchor) Blank() bool { return a.store == "" }

// anchors reads and writes the anchor.
type anchors struct {
	client typedcorev1.ConfigMapInterface
}

func newAnchors(client typedcorev1.ConfigMapInterface) anchors { return anchors{client} }

// Read finds the anchor, which is blank if there is none.
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
	// A revision that somebody has spoilt only makes a message less telling.
	revision, _ := strconv.ParseInt(object.Data[anchorRevision], 10, 64)
	return anchor{
		store:    object.Data[anchorStore],
		Mark:     object.Data[anchorMark],
		Revision: revision,
		Accepted: object.Annotations[acceptAnnotation],
		object:   object,
	}, nil
}

// Write makes the anchor name a mark of the store. It fails if the anchor is not the
// one that was read.
func (a anchors) Write(ctx context.Context, old anchor, seen observation) error {
	return a.put(ctx, old, map[string]string{
		anchorStore:    seen.Store,
		anchorMark:     seen.Mark,
		anchorRevision: strconv.FormatInt(seen.Marked, 10),
	})
}

// createEmpty makes an anchor that knows no store, for an operator to write a decision on.
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
