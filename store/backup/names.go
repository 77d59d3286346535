// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	timeForm = "20060102T150405Z"
	// unverified is the end of the name of a copy that has not been verified yet.
	unverified = ".unverified"
	wordLength = 8
)

var nameForm = regexp.MustCompile(`^sets-([0-9]{8,18})-([0-9]{8}T[0-9]{6}Z)-([A-Z2-7]{8})\.backup(\.unverified)?$`)

// copyOf is a copy of the store, by its name. Copies are ordered by a number that grows with each
// copy, because clocks may be wrong, and the revision of a restored store goes back.
type copyOf struct {
	number   int64
	made     time.Time
	word     string
	verified bool
}

// nextCopy is the copy after all others. The word distinguishes two copies that were begun at the
// same moment.
func nextCopy(others []copyOf, now time.Time) copyOf {
	next := copyOf{number: 1, made: now.UTC().Truncate(time.Second), word: rand.Text()[:wordLength]}
	for _, c := range others {
		next.number = max(next.number, c.number+1)
	}
	return next
}

// name is the name of a verified copy.
func (c copyOf) name() string {
	return fmt.Sprintf("sets-%08d-%s-%s.backup", c.number, c.made.Format(timeForm), c.word)
}

// file is the current file name of the copy.
func (c copyOf) file() string {
	if c.verified {
		return c.name()
	}
	return c.name() + unverified
}

// parseCopies ignores files that are not our copies, and sorts the copies, oldest first.
func parseCopies(names []string) (copies []copyOf) {
	for _, name := range names {
		parts := nameForm.FindStringSubmatch(name)
		if parts == nil {
			continue
		}
		number, numberErr := strconv.ParseInt(parts[1], 10, 64)
		made, timeErr := time.Parse(timeForm, parts[2])
		if numberErr != nil || timeErr != nil {
			continue
		}
		copies = append(copies, copyOf{number: number, made: made, word: parts[3], verified: parts[4] == ""})
	}
	slices.SortFunc(copies, func(a, b copyOf) int {
		return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.word, b.word))
	})
	return copies
}

// verifiedOnly are the verified copies.
func verifiedOnly(copies []copyOf) []copyOf {
	return slices.DeleteFunc(slices.Clone(copies), func(c copyOf) bool { return !c.verified })
}

// outdated are the copies to remove after a copy was verified: the oldest ones beyond the number to
// keep, and the remains of earlier attempts.
func outdated(copies []copyOf, verified copyOf, keep int) (gone []copyOf) {
	counted := verifiedOnly(copies)
	for _, c := range counted[:max(0, len(counted)-keep)] {
		if c != verified {
			gone = append(gone, c)
		}
	}
	for _, c := range copies {
		if !c.verified && c.number < verified.number && !mayBeUnderWay(c, verified.made) {
			gone = append(gone, c)
		}
	}
	return gone
}

// mayBeUnderWay reports whether another replica that has not noticed yet that it does not lead may
// still be writing this copy. If the copy's time is in the future, a clock was wrong.
func mayBeUnderWay(c copyOf, now time.Time) bool {
	return !c.made.After(now) && now.Sub(c.made) <= patience
}
