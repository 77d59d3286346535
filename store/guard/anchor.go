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
	// NoteName is the name of the note: the ConfigMap of the host cluster that names the store that
	// the cluster knows.
	NoteName = "statefulset-apiserver-store"

	// acceptAnnotation is the annotation by which an operator accepts another store, on the note.
	// Its value is the name of that store.
	acceptAnnotation = "apps.statefulset.dev/accept-store"

	noteStoreKey    = "store"
	noteMarkKey     = "mark"
	noteRevisionKey = "revision"

	noteDescription = "Names the store in which statefulset-apiserver keeps its sets, and the latest mark of that store. Maintained by the server. " +
		"While this object exists, a server that starts with another store, or with an older copy, serves nothing, because otherwise the pods of missing sets would be deleted."

	// noteTimeout limits a request to the host cluster.
	noteTimeout = 10 * time.Second
)

// storeNote is what the host cluster knows about the store: a ConfigMap that users know as the
// note.
type storeNote struct {
	// store and mark are those of the record. They are empty if the cluster does not know a store
	// yet.
	store, Mark string
	// Revision is the revision of etcd at which the mark was set. It is only for messages.
	Revision int64
	// Accepted is the name of the store that an operator has accepted.
	Accepted string

	object *corev1.ConfigMap // nil if there is none
}

// matches reports whether the store is the one of the note and contains its mark.
func (a storeNote) matches(s observation) bool {
	return a.store == s.Store && s.containsMark(a.Mark, a.uid())
}

// uid is empty if there is no note.
func (a storeNote) uid() types.UID {
	if a.object == nil {
		return ""
	}
	return a.object.UID
}

// IsBlank reports whether the cluster does not know a store.
func (a storeNote) IsBlank() bool { return a.store == "" }

// noteClient reads and writes the note.
type noteClient struct {
	client typedcorev1.ConfigMapInterface
}

func newNoteClient(client typedcorev1.ConfigMapInterface) noteClient { return noteClient{client} }

// Read reads the note, which is blank if it does not exist.
func (a noteClient) Read(ctx context.Context) (storeNote, error) {
	ctx, cancel := context.WithTimeout(ctx, noteTimeout)
	defer cancel()
	object, err := a.client.Get(ctx, NoteName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return storeNote{}, nil
	}
	if err != nil {
		return storeNote{}, fmt.Errorf("reading the note about the store: %w", err)
	}
	// If a user has damaged the revision, only a message becomes less helpful.
	revision, _ := strconv.ParseInt(object.Data[noteRevisionKey], 10, 64)
	return storeNote{
		store:    object.Data[noteStoreKey],
		Mark:     object.Data[noteMarkKey],
		Revision: revision,
		Accepted: object.Annotations[acceptAnnotation],
		object:   object,
	}, nil
}

// Write records a mark of the store in the note. It fails if the note has changed since it was
// read.
func (a noteClient) Write(ctx context.Context, old storeNote, seen observation) error {
	return a.put(ctx, old, map[string]string{
		noteStoreKey:    seen.Store,
		noteMarkKey:     seen.Mark,
		noteRevisionKey: strconv.FormatInt(seen.Marked, 10),
	})
}

// createEmpty creates a note without a store, which an operator can annotate.
func (a noteClient) createEmpty(ctx context.Context) error { return a.put(ctx, storeNote{}, nil) }

func (a noteClient) put(ctx context.Context, old storeNote, data map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, noteTimeout)
	defer cancel()
	if old.object == nil {
		_, err := a.client.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: NoteName, Annotations: map[string]string{"kubernetes.io/description": noteDescription}},
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
