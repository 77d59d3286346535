// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"crypto/sha256"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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
	digests   map[version]digest
	templates map[version]*corev1.PodTemplateSpec
	// endings are those of the set with this UID.
	endings map[int]ending
	set     types.UID
}

// None reports whether there is nothing to hand on.
func (r Records) None() bool { return len(r.digests)+len(r.templates)+len(r.endings) == 0 }

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
	template, err := identity.RecordedTemplate(data)
	if err != nil {
		return digest{}
	}
	restored := &v1.StatefulSet{Spec: v1.StatefulSetSpec{Template: *template}}
	v1.SetObjectDefaults_StatefulSet(restored)
	return sha256.Sum256(identity.RevisionData(&restored.Spec.Template))
}

// template is the one that a revision records, as it was recorded.
func (r *reader) template(of *revision) (*corev1.PodTemplateSpec, error) {
	found := cmp.Or(r.read.templates[of.at], r.known.templates[of.at])
	if found == nil {
		var err error
		if found, err = identity.RecordedTemplate(of.data); err != nil {
			return nil, err
		}
	}
	if r.read.templates == nil {
		r.read.templates = map[version]*corev1.PodTemplateSpec{}
	}
	r.read.templates[of.at] = found
	return found, nil
}
