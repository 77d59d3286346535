// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

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
	// noteName is the ConfigMap of the host cluster that says which store the
	// cluster knows.
	noteName = "statefulset-apiserver-store"

	// acceptAnnotation is how an operator says, on the note, that another store is
	// the right one from now on. Its value is that store's name.
	acceptAnnotation = "apps.statefulset.dev/accept-store"

	noteStore    = "store"
	noteMark     = "mark"
	noteRevision = "revision"

	noteDescription = "Which store statefulset-apiserver keeps its sets in, and how far that store has come. Kept by the server. " +
		"While it is here, a server that is started with another store, or with an older copy, serves nothing instead of letting the pods of missing sets be deleted."

	// hostTimeout bounds a question to the host.
	hostTimeout = 10 * time.Second
)

// note is what the host cluster knows about the store.
type note struct {
	// store and mark are those of the record. They are empty if the cluster knows no
	// store yet.
	store, mark string
	// revision is etcd's at which the mark was set. It is for people.
	revision int64
	// accepted is the name of the store that an operator has accepted.
	accepted string

	object *corev1.ConfigMap // nil if there is none
}

// knows reports whether the store is the one of the note and has come as far.
func (n note) knows(s sight) bool { return n.store == s.Store && s.holds(n.mark, n.uid()) }

// uid is empty if there is no note.
func (n note) uid() types.UID {
	if n.object == nil {
		return ""
	}
	return n.object.UID
}

// blank reports whether the cluster knows no store.
func (n note) blank() bool { return n.store == "" }

// notes reads and writes the note.
type notes struct {
	client typedcorev1.ConfigMapInterface
}

func newAnchors(client typedcorev1.ConfigMapInterface) notes { return notes{client} }

func (n notes) read(ctx context.Context) (note, error) {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	object, err := n.client.Get(ctx, noteName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return note{}, nil
	}
	if err != nil {
		return note{}, fmt.Errorf("reading the note about the store: %w", err)
	}
	// A revision that somebody has spoilt only makes a message less telling.
	revision, _ := strconv.ParseInt(object.Data[noteRevision], 10, 64)
	return note{
		store:    object.Data[noteStore],
		mark:     object.Data[noteMark],
		revision: revision,
		accepted: object.Annotations[acceptAnnotation],
		object:   object,
	}, nil
}

// write makes the note name a mark of the store. It fails if the note is not the
// one that was read.
func (n notes) write(ctx context.Context, old note, seen sight) error {
	return n.put(ctx, old, map[string]string{
		noteStore:    seen.Store,
		noteMark:     seen.Mark,
		noteRevision: strconv.FormatInt(seen.marked, 10),
	})
}

// lay makes a note that knows no store, for an operator to write a decision on.
func (n notes) lay(ctx context.Context) error { return n.put(ctx, note{}, nil) }

func (n notes) put(ctx context.Context, old note, data map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	if old.object == nil {
		_, err := n.client.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: noteName, Annotations: map[string]string{"kubernetes.io/description": noteDescription}},
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
	if _, err := n.client.Update(ctx, next, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing the note about the store: %w", err)
	}
	return nil
}
