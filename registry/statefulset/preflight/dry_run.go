// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"statefulset.dev/window"
)

// trialsAtOnce is the maximum number of objects that are tried at the same time, for all requests.
// The number begins with firstTrials, and never falls below leastTrials. Between these limits, it
// depends on the answers of the host cluster.
const (
	trialsAtOnce = 32
	firstTrials  = 8
	leastTrials  = 2
)

// dryRunner creates objects in the host cluster with dry runs.
type dryRunner struct {
	client  rest.Interface
	objects objectRunner
	gate    *window.Gate
}

var _ Host = dryRunner{}

// newDryRunner returns a dryRunner that uses another account of the host cluster, unless as is
// empty. That account may create the objects, but only in dry runs. Since the host cluster does not
// count its requests as requests of the controller, they do not delay those. Objects of other kinds
// are tried with the account of this server.
func newDryRunner(config *rest.Config, as string, resources Resources) (dryRunner, error) {
	objects, err := newObjectRunner(config, resources)
	if err != nil {
		return dryRunner{}, err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // the gate limits what is asked at the same time
	config.Impersonate = rest.ImpersonationConfig{UserName: as}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return dryRunner{}, fmt.Errorf("creating a client for the host cluster at %s: %w", config.Host, err)
	}
	return dryRunner{client.CoreV1().RESTClient(), objects, window.NewGate(window.New(leastTrials, firstTrials, trialsAtOnce))}, nil
}

// TryCreate sends a dry run that creates the object.
func (r dryRunner) TryCreate(ctx context.Context, object runtime.Object) Answer {
	leave, err := r.gate.Enter(ctx)
	if err != nil {
		return Answer{Err: ErrBusy}
	}
	answer := r.try(ctx, object)
	leave(answer.Err)
	return answer
}

func (r dryRunner) try(ctx context.Context, object runtime.Object) Answer {
	if of, is := object.(*unstructured.Unstructured); is {
		return r.objects.try(ctx, of)
	}
	resource, namespace, err := hostResource(object)
	if err != nil {
		return Answer{Err: err}
	}
	heard := &warningList{}
	err = r.client.Post().Namespace(namespace).Resource(resource).
		VersionedParams(&metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}, scheme.ParameterCodec).
		WarningHandlerWithContext(heard).Body(object).Do(ctx).Error()
	return Answer{Err: mayNotAsk(withoutURL(err)), Warnings: heard.texts}
}

// mayNotAsk distinguishes a host cluster that does not allow us to impersonate the other account
// from one that rejects the object.
func mayNotAsk(err error) error {
	status, ok := err.(apierrors.APIStatus)
	if apierrors.IsForbidden(err) && ok && status.Status().Details != nil && status.Status().Details.Kind == "serviceaccounts" {
		return fmt.Errorf("this server is not allowed to send dry runs to the host cluster: %s", status.Status().Message)
	}
	return err
}

// hostResource returns the resource and the namespace of an object.
func hostResource(object runtime.Object) (resource, namespace string, err error) {
	switch o := object.(type) {
	case *corev1.PodTemplate:
		return "podtemplates", o.Namespace, nil
	case *corev1.Pod:
		return "pods", o.Namespace, nil
	case *corev1.PersistentVolumeClaim:
		return "persistentvolumeclaims", o.Namespace, nil
	}
	return "", "", fmt.Errorf("%T cannot be tried on the host cluster", object)
}

// withoutURL returns the cause of a failed request. The URL of the request has no meaning for the
// user of another server.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the host cluster cannot be reached: %w", failed.Err)
	}
	return err
}

// warningList collects the warnings of one request.
type warningList struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeaderWithContext records a warning with the code that Kubernetes uses.
func (w *warningList) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	if code != 299 || strings.TrimSpace(text) == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}
