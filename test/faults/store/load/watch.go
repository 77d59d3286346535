// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/store/history"
	"statefulset.dev/test/faults/store/watches"
)

// The server ends a watch after a time between these, so that clients must resume.
const shortestWatch, longestWatch = 3, 12 // seconds

// Watch watches until the context ends: it lists once, and then continues each watch at the end of
// the previous one, like an informer. When the server no longer knows what followed, it starts
// again with another stream.
func (c *Client) Watch(ctx context.Context, random *rand.Rand, name string, filter watches.Filter) {
	for ctx.Err() == nil {
		revision, err := c.newest(ctx, filter)
		if err != nil {
			pause(ctx, afterFailure)
			continue
		}
		stream := watches.Stream{Name: name, Filter: filter}
		for ctx.Err() == nil {
			request, expired := c.watchOnce(ctx, random, filter, revision)
			stream.Requests = append(stream.Requests, request)
			if expired {
				break
			}
			if n := len(request.Events); n > 0 {
				revision = request.Events[n-1].Revision
				continue
			}
			pause(ctx, afterFailure)
		}
		c.log.stream(stream)
	}
}

func (c *Client) newest(ctx context.Context, filter watches.Filter) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list, err := c.sets.StatefulSets(c.namespace).List(ctx, optionsOf(filter))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(list.ResourceVersion, 10, 64)
}

// watchOnce sends one watch request. It reports whether the revision is too old for the server.
func (c *Client) watchOnce(ctx context.Context, random *rand.Rand, filter watches.Filter,
	from int64) (request watches.Request, expired bool) {
	request.From = from
	seconds := int64(shortestWatch + random.IntN(longestWatch-shortestWatch+1))
	// After this time, the client notices a server that is gone without a response.
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds+5)*time.Second)
	defer cancel()
	options := optionsOf(filter)
	options.ResourceVersion, options.TimeoutSeconds, options.AllowWatchBookmarks = strconv.FormatInt(from, 10), &seconds, true
	watcher, err := c.sets.StatefulSets(c.namespace).Watch(ctx, options)
	if err != nil {
		return request, isExpired(err)
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		if event.Type == watch.Error {
			return request, isExpired(apierrors.FromObject(event.Object))
		}
		set, ok := event.Object.(*v1.StatefulSet)
		if !ok {
			return request, false
		}
		version, err := eventVersion(event.Type, set)
		if err != nil {
			return request, false
		}
		request.Events = append(request.Events, watches.Event{Type: event.Type, Version: version})
	}
	return request, false
}

func eventVersion(kind watch.EventType, set *v1.StatefulSet) (history.Version, error) {
	if kind != watch.Bookmark {
		return history.VersionOf(set)
	}
	revision, err := strconv.ParseInt(set.ResourceVersion, 10, 64)
	return history.Version{Revision: revision}, err
}

func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

func optionsOf(filter watches.Filter) metav1.ListOptions {
	var options metav1.ListOptions
	if filter.Color != "" {
		options.LabelSelector = history.ColorLabel + "=" + filter.Color
	}
	if filter.Key != "" {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", filter.Key).String()
	}
	return options
}
