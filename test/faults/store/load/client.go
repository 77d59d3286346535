// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	typed "statefulset.dev/client/clientset/versioned/typed/apps/v1"
	"statefulset.dev/test/faults/store/history"
)

const (
	resource = "statefulsets"
	// requestTimeout is when a client stops waiting, and does not know the outcome.
	requestTimeout = 15 * time.Second
)

// Client sends requests for the sets of one namespace, and logs each.
type Client struct {
	log       *Log
	namespace string
	number    int
	retries   int
	writes    int
	sets      typed.AppsV1Interface
}

// NewClient returns a client with its own number. A request that the server asks to retry is sent
// at most 1+retries times. With retries, an outcome may be that of an attempt before the last one.
func NewClient(log *Log, config *rest.Config, namespace string, number, retries int) (*Client, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	clients, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating client %d: %w", number, err)
	}
	return &Client{log: log, namespace: namespace, number: number, retries: retries, sets: clients.AppsV1()}, nil
}

// Create creates a set.
func (c *Client) Create(ctx context.Context, key, color string) history.Operation {
	op := c.operation(history.Create, key)
	op.Write = c.nextWrite()
	set := newSet(c.namespace, key, color, op.Write)
	return c.do(ctx, op, c.sets.RESTClient().Post().Namespace(c.namespace).Resource(resource).Body(set))
}

// Update replaces the given version.
func (c *Client) Update(ctx context.Context, base history.Version, color string) history.Operation {
	op := c.operation(history.Update, base.Key)
	op.Write, op.BaseUID, op.BaseRevision = c.nextWrite(), base.UID, base.Revision
	set := newSet(c.namespace, base.Key, color, op.Write)
	set.UID, set.ResourceVersion = base.UID, strconv.FormatInt(base.Revision, 10)
	return c.do(ctx, op, c.sets.RESTClient().Put().Namespace(c.namespace).Resource(resource).Name(base.Key).Body(set))
}

// Patch changes the current version.
func (c *Client) Patch(ctx context.Context, key, color string) history.Operation {
	op := c.operation(history.Patch, key)
	op.Write = c.nextWrite()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q},"labels":{%q:%q}}}`, history.WriteAnnotation, op.Write, history.ColorLabel, color)
	return c.do(ctx, op,
		c.sets.RESTClient().Patch(types.MergePatchType).Namespace(c.namespace).Resource(resource).Name(key).Body([]byte(patch)))
}

// Delete deletes the given object, in any version.
func (c *Client) Delete(ctx context.Context, base history.Version) history.Operation {
	op := c.operation(history.Delete, base.Key)
	op.BaseUID = base.UID
	background := metav1.DeletePropagationBackground
	options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &base.UID}, PropagationPolicy: &background}
	return c.do(ctx, op, c.sets.RESTClient().Delete().Namespace(c.namespace).Resource(resource).Name(base.Key).Body(options))
}

// Read gets a set.
func (c *Client) Read(ctx context.Context, key string) history.Operation {
	return c.do(ctx, c.operation(history.Read, key), c.sets.RESTClient().Get().Namespace(c.namespace).Resource(resource).Name(key))
}

// List lists everything, and logs for each key what the list shows.
func (c *Client) List(ctx context.Context, keys []string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	call := c.log.Now()
	list := &v1.StatefulSetList{}
	err := c.sets.RESTClient().Get().Namespace(c.namespace).Resource(resource).MaxRetries(c.retries).Do(ctx).Into(list)
	if err != nil {
		c.log.failed(err)
		return err
	}
	done := c.log.Now()
	snapshot, err := snapshotOf(list)
	if err != nil {
		return err
	}
	shown := map[string]history.Version{}
	for _, version := range snapshot.Versions {
		shown[version.Key] = version
	}
	var reads []history.Operation
	for _, key := range keys {
		read := c.operation(history.Read, key)
		read.Call, read.Return, read.Answer = call, done, history.Absent
		if version, ok := shown[key]; ok {
			read.Answer, read.Got = history.Done, version
		}
		reads = append(reads, read)
	}
	c.log.snapshot(snapshot, reads)
	return nil
}

func snapshotOf(list *v1.StatefulSetList) (history.Snapshot, error) {
	revision, err := strconv.ParseInt(list.ResourceVersion, 10, 64)
	if err != nil {
		return history.Snapshot{}, fmt.Errorf("a list has resource version %q, want a number", list.ResourceVersion)
	}
	snapshot := history.Snapshot{Revision: revision}
	for i := range list.Items {
		version, err := history.VersionOf(&list.Items[i])
		if err != nil {
			return history.Snapshot{}, err
		}
		snapshot.Versions = append(snapshot.Versions, version)
	}
	return snapshot, nil
}

func (c *Client) operation(kind history.Kind, key string) history.Operation {
	return history.Operation{Client: c.number, Kind: kind, Key: key, Call: c.log.Now()}
}

func (c *Client) nextWrite() string {
	c.writes++
	return fmt.Sprintf("%d-%d", c.number, c.writes)
}

// do sends a request and logs its outcome.
func (c *Client) do(ctx context.Context, op history.Operation, request *rest.Request) history.Operation {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	result := request.MaxRetries(c.retries).Do(ctx)
	err := result.Error()
	if err == nil && op.Kind != history.Delete {
		set := &v1.StatefulSet{}
		if err = result.Into(set); err == nil {
			op.Got, err = history.VersionOf(set)
		}
	}
	op.Return, op.Answer = c.log.Now(), answerOf(err)
	c.log.operation(op, err)
	return op
}

func answerOf(err error) history.Answer {
	switch {
	case err == nil:
		return history.Done
	case apierrors.IsNotFound(err):
		return history.Absent
	case apierrors.IsAlreadyExists(err):
		return history.Exists
	case apierrors.IsConflict(err):
		return history.Conflict
	default:
		return history.Unknown
	}
}

// kindOfError returns what an error has in common with others of its kind: the code, and the
// message of a proxy that answered instead of the server.
func kindOfError(err error) string {
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Code == 0 {
		return "no response"
	}
	kind := strconv.Itoa(int(status.Status().Code)) + " " + http.StatusText(int(status.Status().Code))
	if details := status.Status().Details; details != nil && len(details.Causes) > 0 {
		kind += ": " + strings.TrimSpace(details.Causes[0].Message)
	}
	return kind
}
