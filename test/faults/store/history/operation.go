// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Kind is the kind of a request.
type Kind string

// The kinds of requests.
const (
	Read   Kind = "read"
	Create Kind = "create"
	Update Kind = "update"
	Patch  Kind = "patch"
	Delete Kind = "delete"
)

// Answer is the response to a client.
type Answer string

// The answers.
const (
	// Unknown is a request that timed out, or whose error does not say whether it was carried out.
	Unknown Answer = "unknown"
	// Done is a write that was acknowledged, or a read that found the object.
	Done Answer = "done"
	// Absent is a 404.
	Absent Answer = "absent"
	// Conflict is a 409: the object is not the version to which the write applies.
	Conflict Answer = "conflict"
	// Exists is a 409 for a create.
	Exists Answer = "exists"
)

// Operation is one request of one client, with its response.
type Operation struct {
	Client int
	Kind   Kind
	Key    string
	// Write is the unique name of the write.
	Write string
	// BaseUID and BaseRevision are the preconditions of an update; a delete has only the UID.
	BaseUID      types.UID
	BaseRevision int64
	// Call and Return are the times of the request and the response, since the beginning of the
	// run. An object that is read from a list has the times of the list.
	Call, Return time.Duration
	Answer       Answer
	// Got is the object in the response, if there was one.
	Got Version
}

func (o Operation) String() string {
	text := fmt.Sprintf("%s of %s by client %d (%s to %s): %s", o.Kind, o.Key, o.Client, o.Call, o.Return, o.Answer)
	if o.Got.Revision != 0 {
		text += fmt.Sprintf(", revision %d by %s", o.Got.Revision, o.Got.Write)
	}
	return text
}

// Snapshot is the response to a list of everything.
type Snapshot struct {
	// Revision is the list's resource version.
	Revision int64
	Versions []Version
}
