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

// trialsAtOnce is how many objects are tried on the host at the same time at most, whatever
// the number of requests. At first it is firstTrials, and never less than leastTrials: how
// many of the others the host is given follows from how it answers.
const (
	trialsAtOnce = 32
	firstTrials  = 8
	leastTrials  = 2
)

// dryRunner creates objects in the host as dry runs.
type dryRunner struct {
	client  rest.Interface
	objects objectRunner
	gate    *window.Gate
}

var _ Host = dryRunner{}

// newDryRunner asks the host in the name of another account, unless that is empty. It may
// create the objects that are tried, and only in dry runs; and since the host does not take
// its requests for those of the controller, they do not queue up in front of these. Objects of other
// kinds are tried in the name of this server.
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

// TryCreate asks whether the object could be created.
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
