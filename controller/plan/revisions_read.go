// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"crypto/sha256"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// Records are what a plan passes to the next plan of the same set: how often in a row the pods of
// its members have ended, and what the planner has read from revisions. To read revisions again
// would be most of the cost of a sync during an update; no decision depends on that cache. The zero
// value is empty.
//
// For a revision that is only compared with the current template, only a digest is kept: there may
// be as many revisions as members, and a decoded template may need a thousand times the memory of
// its encoding.
type Records struct {
	digests map[version]digest
	sources map[version]identity.Source
	// endings are those of the set with this UID.
	endings map[int]ending
	set     types.UID
}

// None reports whether the records are empty.
func (r Records) None() bool { return len(r.digests)+len(r.sources)+len(r.endings) == 0 }

func (r Records) with(set types.UID, endings map[int]ending) Records {
	if len(endings) > 0 {
		r.set, r.endings = set, endings
	}
	return r
}

// version is a version of a revision object. As long as it stays the same, so does the recorded
// template.
type version struct {
	uid             types.UID
	resourceVersion string
}

func versionOf(r *appsv1.ControllerRevision) version { return version{r.UID, r.ResourceVersion} }

// digest is the digest of a template in the encoding of this release, zero if the template cannot
// be read.
type digest = [sha256.Size]byte

// reader reads what revisions record, unless an earlier sync has read it.
type reader struct {
	known, read Records
	// objects are the objects that must be read.
	objects []ObjectRead
}

// digest is the digest of a recorded template, read and defaulted by this release.
func (r *reader) digest(of *appsv1.ControllerRevision) digest {
	at := versionOf(of)
	found, ok := r.known.digests[at]
	if !ok {
		found = digestOf(of.Data.Raw)
	}
	if r.read.digests == nil {
		r.read.digests = map[version]digest{}
	}
	r.read.digests[at] = found
	return found
}

func digestOf(data []byte) digest {
	source, err := identity.Recorded(data)
	if err != nil {
		return digest{}
	}
	return sha256.Sum256(identity.RevisionData(defaulted(source)))
}

// defaulted is the source of a revision with the defaults of this release.
func defaulted(source identity.Source) identity.Source {
	restored := &v1.StatefulSet{Spec: v1.StatefulSetSpec{Template: *source.Template, Identity: source.Identity}}
	v1.SetObjectDefaults_StatefulSet(restored)
	return identity.SourceOf(restored)
}

// source is the source that a revision records, without further defaults.
func (r *reader) source(of *revision) (identity.Source, error) {
	found := cmp.Or(r.read.sources[of.at], r.known.sources[of.at])
	if found.Template == nil {
		var err error
		if found, err = identity.Recorded(of.data); err != nil {
			return identity.Source{}, err
		}
	}
	if r.read.sources == nil {
		r.read.sources = map[version]identity.Source{}
	}
	r.read.sources[of.at] = found
	return found, nil
}
