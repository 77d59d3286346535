// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/registry/statefulset"
	"statefulset.dev/window"
)

// What is done with a set whose template or claims the host finds invalid: it is
// refused, or accepted with a warning; or the host is not asked.
const (
	preflightEnforce = "enforce"
	preflightWarn    = "warn"
	preflightOff     = "off"
)

// defaultPreflightIdentity is the account of the manifests that may create what is tried,
// in dry runs only.
const defaultPreflightIdentity = "system:serviceaccount:statefulset-system:statefulset-preflight"

func (o *Options) validatePreflight() []error {
	if slices.Contains([]string{preflightEnforce, preflightWarn, preflightOff}, o.Preflight) {
		return nil
	}
	return []error{fmt.Errorf("--preflight is %q, must be %s, %s or %s", o.Preflight, preflightEnforce, preflightWarn, preflightOff)}
}

// applyPreflight lets sets be tried on the host before they are stored.
func (o *Options) applyPreflight(config *Config, host *hostcluster.Host) error {
	if o.Preflight == preflightOff {
		return nil
	}
	trier, err := newTrier(host.Config, o.PreflightIdentity)
	if err != nil {
		return err
	}
	config.Preflight = statefulset.Preflight{Host: trier, WarnOnly: o.Preflight == preflightWarn}
	return nil
}

// trialsAtOnce is how many objects are tried on the host at the same time at most, whatever
// the number of requests. At first it is firstTrials, and never less than leastTrials: how
// many of the others the host is given follows from how it answers.
const (
	trialsAtOnce = 32
	firstTrials  = 8
	leastTrials  = 2
)

// trier creates objects in the host as dry runs.
type trier struct {
	client rest.Interface
	gate   *window.Gate
}

var _ statefulset.Host = trier{}

// newTrier asks the host in the name of another account, unless that is empty. It may
// create the objects that are tried, and only in dry runs; and since the host does not take
// its requests for those of the controller, they do not queue up in front of these.
func newTrier(config *rest.Config, as string) (trier, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the gate limits what is asked at the same time
	config.Impersonate = rest.ImpersonationConfig{UserName: as}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return trier{}, fmt.Errorf("creating a client for the host cluster at %s: %w", config.Host, err)
	}
	return trier{client.CoreV1().RESTClient(), window.NewGate(window.New(leastTrials, firstTrials, trialsAtOnce))}, nil
}

// TryCreate asks whether the object could be created.
func (t trier) TryCreate(ctx context.Context, object runtime.Object) statefulset.Answer {
	resource, namespace, err := hostResource(object)
	if err != nil {
		return statefulset.Answer{Err: err}
	}
	leave, err := t.gate.Enter(ctx)
	if err != nil {
		return statefulset.Answer{Err: statefulset.ErrBusy}
	}
	defer func() { leave(err) }()
	heard := &warningList{}
	err = t.client.Post().Namespace(namespace).Resource(resource).
		VersionedParams(&metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}, scheme.ParameterCodec).
		WarningHandlerWithContext(heard).Body(object).Do(ctx).Error()
	return statefulset.Answer{Err: mayNotAsk(withoutURL(err)), Warnings: heard.texts}
}

// mayNotAsk tells a host that does not let us speak for the other account from one that
// refuses the object.
func mayNotAsk(err error) error {
	status, ok := err.(apierrors.APIStatus)
	if apierrors.IsForbidden(err) && ok && status.Status().Details != nil && status.Status().Details.Kind == "serviceaccounts" {
		return fmt.Errorf("this server may not ask the host cluster: %s", status.Status().Message)
	}
	return err
}

// hostResource is where an object is created.
func hostResource(object runtime.Object) (resource, namespace string, err error) {
	switch o := object.(type) {
	case *corev1.PodTemplate:
		return "podtemplates", o.Namespace, nil
	case *corev1.Pod:
		return "pods", o.Namespace, nil
	case *corev1.PersistentVolumeClaim:
		return "persistentvolumeclaims", o.Namespace, nil
	}
	return "", "", fmt.Errorf("%T is not tried on the host", object)
}

// withoutURL is the cause of a request's failure: which object was sent where means
// nothing to the user of another server.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the host cluster cannot be reached: %w", failed.Err)
	}
	return err
}

// warningList hears the warnings of one request.
type warningList struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeaderWithContext keeps a warning of the code that Kubernetes uses.
func (w *warningList) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	if code != 299 || strings.TrimSpace(text) == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}
