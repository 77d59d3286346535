// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"statefulset.dev/controller/plan/action"
)

// carrying is a plan that is being carried out.
type carrying struct {
	*host
	gotStale func(action.Action, error)
	done     []action.Action
	failed   []Failure
	// stale is true once an action has found the world otherwise than it was seen, spent once a member
	// has been taken from service in place, of which budgets have yet to know.
	stale, crashed, spent bool
}

func (c *carrying) carryOutAll(chains []action.Chain) {
	for _, chain := range chains {
		c.carryOut(chain)
	}
}

// carryOut carries out a chain, and reports whether all of it succeeded.
func (c *carrying) carryOut(chain action.Chain) bool {
	for _, act := range chain {
		if c.crashed {
			return false
		}
		if c.spent && isEviction(act) {
			return false
		}
		err := c.do(act)
		c.spent = c.spent || err == nil && action.AsksBudgets(act)
		switch {
		case err == nil:
			c.done = append(c.done, act)
			c.noticed(c.byController())
			continue
		case errors.Is(err, errCrash):
			c.crashed = true
		case isStale(err):
			c.stale = true
			c.gotStale(act, err)
		default:
			c.failed = append(c.failed, Failure{Action: act, Err: err})
		}
		return false
	}
	return true
}

func (h *host) do(act action.Action) error {
	if err := h.tryEviction(act); err != nil {
		return err
	}
	for text, err := range h.refuse {
		if !strings.Contains(act.String(), text) {
			continue
		}
		if otherwise := insteadOf(act); apierrors.IsInvalid(err) && otherwise != nil {
			return h.do(*otherwise)
		}
		return err
	}
	err := h.simulated().Do(act)
	if a, makes := act.(action.CreateObject); makes && err == nil && h.gives.late {
		h.withhold(textOf(action.ObjectKey(a.Object)))
	}
	return err
}

// simulated is the host as actions find it.
func (h *host) simulated() *Simulated {
	return &Simulated{Set: h.set, Pods: h.pods, Claims: h.claims, Revisions: h.revisions, Objects: h.objects, Now: h.now, Write: h.write,
		Trim: (*corev1.Pod).DeepCopy}
}
