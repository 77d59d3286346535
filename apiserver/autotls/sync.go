// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package autotls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/cert"
	"k8s.io/klog/v2"

	"statefulset.dev/store/issuer"
	"statefulset.dev/store/logthrottle"
)

const (
	// A failed sync is retried less and less often.
	shortestPause = 100 * time.Millisecond
	longestPause  = 30 * time.Second
	// syncTimeout limits the requests of one sync.
	syncTimeout = 20 * time.Second
	// mostSteps is how many times everything may change during one sync, by this replica or by
	// another.
	mostSteps = 5
	// longestRest is the interval of syncs when nothing is due.
	longestRest = 10 * time.Minute
)

// errAgain says that the CAs have changed, so the sync must start again.
var errAgain = errors.New("the CAs have changed")

func (c *Certificate) work(ctx context.Context) {
	var throttle logthrottle.Throttle
	for {
		key, ended := c.queue.Get()
		if ended {
			return
		}
		next, err := c.sync(ctx)
		if err == nil {
			c.queue.Forget(key)
			c.queue.AddAfter(key, min(longestRest, max(0, next.Sub(c.clock.Now()))))
		} else {
			if ctx.Err() == nil && throttle.IsDue(err, c.clock.Now()) {
				klog.FromContext(ctx).Error(err, "Failed to sync the serving certificate")
			}
			c.queue.AddRateLimited(key)
		}
		c.queue.Done(key)
	}
}

// sync does what is due, and returns when something is due next. If it fails, the server keeps its
// certificate.
func (c *Certificate) sync(ctx context.Context) (next time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	for range mostSteps {
		next, err = c.step(ctx)
		if !errors.Is(err, errAgain) && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
	return next, err
}

// step reads the current state, and does the first thing that is due.
func (c *Certificate) step(ctx context.Context) (next time.Time, err error) {
	registered, err := c.registrar.read(ctx)
	if err != nil {
		return time.Time{}, err
	}
	held, err := c.keeper.read(ctx)
	if err != nil {
		return time.Time{}, err
	}
	now := c.clock.Now()
	if held.isEmpty() {
		return time.Time{}, c.begin(ctx, held, registered, now)
	}
	if err := errors.Join(c.keeper.usable(held, now), fromTheFuture(held.authorities, now)); err != nil {
		return time.Time{}, err
	}
	d := c.schedule.decide(now, held.authorities)
	if d.due || len(d.trusted) < len(held.authorities) {
		return time.Time{}, c.change(ctx, held, d, now)
	}
	if err := c.publish(ctx, registered, d.trusted); err != nil {
		return time.Time{}, err
	}
	renewal, err := c.renew(ctx, registered.host, d.signer, now)
	return earlier(d.recheckAt, renewal), err
}

// begin creates the first CA. The CAs that the host cluster trusts already stay trusted, because a
// replica may still serve with a certificate from another issuer.
func (c *Certificate) begin(ctx context.Context, held kept, registered registration, now time.Time) error {
	// A bundle that cannot be read makes no one trusted.
	trusted, _ := cert.ParseCertsPEM(registered.bundle)
	var all []issuer.Authority
	for _, one := range trusted {
		if a := (issuer.Authority{Certificate: one}); a.Valid(now) {
			all = append(all, a)
		}
	}
	return c.add(ctx, held, all, now)
}

// change keeps the CAs that are still needed, and adds one if that is due.
func (c *Certificate) change(ctx context.Context, held kept, d decision, now time.Time) error {
	if d.due {
		return c.add(ctx, held, d.trusted, now)
	}
	if err := c.keeper.write(ctx, held, d.trusted); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Removed CAs that are not needed any more", "left", len(d.trusted))
	return errAgain
}

func (c *Certificate) add(ctx context.Context, held kept, all []issuer.Authority, now time.Time) error {
	made, err := issuer.New(authorityName, now, c.schedule.authority)
	if err != nil {
		return err
	}
	if err := c.keeper.write(ctx, held, append(all, made)); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Created a CA for serving certificates", "authority", made.Certificate.Subject.CommonName, "expires",
		made.Certificate.NotAfter.Format(time.RFC3339))
	return errAgain
}

// publish publishes the trusted CAs to the host cluster and to direct clients, if they have
// changed.
func (c *Certificate) publish(ctx context.Context, registered registration, trusted []issuer.Authority) error {
	bundle, err := issuer.EncodeCertificates(trusted)
	if err != nil {
		return err
	}
	if !registered.kept && !bytes.Equal(registered.bundle, bundle) {
		if err := c.registrar.publish(ctx, registered, bundle); err != nil {
			return err
		}
		klog.FromContext(ctx).Info("Published the trusted CAs in the APIService", "authorities", len(trusted))
	}
	return c.keeper.publishConfigMap(ctx, bundle)
}

// renew issues another certificate if that is due, and returns when the next renewal is due.
func (c *Certificate) renew(ctx context.Context, host string, signer issuer.Authority, now time.Time) (time.Time, error) {
	c.mu.Lock()
	served := c.served
	c.mu.Unlock()
	if served.Certificate != nil && served.host == host && served.Signer.Is(signer) && now.Before(served.Renewal) {
		return served.Renewal, nil
	}
	made, err := signer.Issue(issuer.Request{Name: host, Hosts: []string{host}, Lifetime: c.schedule.certificate}, now)
	if err != nil {
		return time.Time{}, err
	}
	c.serve(leaf{made, host})
	klog.FromContext(ctx).Info("Issued a serving certificate", "host", host, "authority", signer.Certificate.Subject.CommonName, "expires",
		made.Until.UTC().Format(time.RFC3339))
	return made.Renewal, nil
}

// fromTheFuture returns an error if a CA was created later than now. The server cannot know which
// clock is wrong, and a certificate from such a CA would be accepted by no client.
func fromTheFuture(all []issuer.Authority, now time.Time) error {
	for _, a := range all {
		if a.Certificate.NotBefore.After(now) {
			return fmt.Errorf("CA %s was created on %s, but the clock of this machine says %s: set the clock",
				a.Certificate.Subject.CommonName, a.Made().UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
		}
	}
	return nil
}
