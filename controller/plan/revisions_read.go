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

// Records are what a plan hands on to the next plan of the same set: how often in a row
// the pods of its members have ended, and what it has read of revisions. The latter is
// so that it need not be read again, which is most of what a look costs during an update,
// and no decision depends on it. The zero value has none.
//
// Of a revision that is only compared with the present template no more than a digest is
// kept: there may be as many as there are members, and a template may have a thousand
// times the memory that it takes in a body.
type Records struct {
	digests map[version]digest
	sources map[version]identity.Source
	// endings are those of the set with this UID.
	endings map[int]ending
	set     types.UID
}

// None reports whether there is nothing to hand on.
func (r Records) None() bool { return len(r.digests)+len(r.sources)+len(r.endings) == 0 }

func (r Records) with(set types.UID, endings map[int]ending) Records {
	if len(endings) > 0 {
		r.set, r.endings = set, endings
	}
	return r
}

// version is a revision as it was seen. What it records is the same as long as it is.
type version struct {
	uid             types.UID
	resourceVersion string
}

func versionOf(r *appsv1.ControllerRevision) version { return version{r.UID, r.ResourceVersion} }

// digest is that of a template in the way this release writes it down, zero of one that
// cannot be read.
type digest = [sha256.Size]byte

// reader reads what revisions record, unless an earlier look has.
type reader struct {
	known, read Records
	// objects are those of which it has yet to be read what they give.
	objects []ObjectRead
}

// digest is that of a recorded template, read and defaulted by this release.
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

// defaulted is what a revision records as this release would record it.
func defaulted(source identity.Source) identity.Source {
	restored := &v1.StatefulSet{Spec: v1.StatefulSetSpec{Template: *source.Template, Identity: source.Identity}}
	v1.SetObjectDefaults_StatefulSet(restored)
	return identity.SourceOf(restored)
}

// source is what a revision records, as it was recorded.
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
