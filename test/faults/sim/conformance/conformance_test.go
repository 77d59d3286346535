//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/faults/sim/model"
	"statefulset.dev/test/harness"
)

// direct carries out requests on the model at once.
type direct struct{ server *model.Server }

func (d direct) RoundTrip(from *http.Request) (*http.Response, error) {
	request, err := model.ReadRequest(from)
	if err != nil {
		return nil, err
	}
	response := &http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: from}
	result, err := d.server.Answer(request, 0)
	if err != nil {
		var status apierrors.APIStatus
		if !errors.As(err, &status) {
			return nil, err
		}
		failure := status.Status()
		response.StatusCode, result = int(failure.Code), &failure
	}
	body, mediaType, err := d.server.Encode(request, result)
	if err != nil {
		return nil, err
	}
	response.Header.Set("Content-Type", mediaType)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// TestTheModelAnswersAsKubeApiserver plays each sequence to both.
func TestTheModelAnswersAsKubeApiserver(t *testing.T) {
	cluster, err := harness.Open()
	if err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(cluster.Config)
	config.ContentType = runtime.ContentTypeProtobuf
	realClient, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatalf("building client: %v", err)
	}
	anchor := anchorOn(t, realClient)
	stopControllers(t, cluster)
	usual := 1000
	if testing.Short() {
		usual = 100
	}
	first, sequences := harness.Number(t, "SEED", 1), harness.Number(t, "SEQUENCES", usual)
	operations, different := 0, 0
	for seed := first; seed < first+sequences && different < 5; seed++ {
		n, difference := compare(t, realClient, anchor, uint64(seed))
		operations += n
		if difference != "" {
			different++
			t.Errorf("sequence %d: %s", seed, difference)
		}
	}
	t.Logf("%d sequences, %d operations, %d sequences differ", sequences, operations, different)
	row.Report(t, row.Row{
		Fault: "model of the API server", Side: "-", Where: "simulator", Runs: sequences, Violations: different,
		Detail: "random sequences answered by the model as by kube-apiserver",
	})
}

// stopControllers keeps the cluster's own controllers from acting on what is compared.
func stopControllers(t *testing.T, cluster *harness.Cluster) {
	t.Helper()
	pid := cluster.Component(t, "kube-controller-manager").PID
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatalf("stopping kube-controller-manager, process %d: %v", pid, err)
	}
	t.Cleanup(func() {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Errorf("letting kube-controller-manager go on: %v", err)
		}
	})
}

// anchorOn makes an object that owns others, and waits until pods can be created.
func anchorOn(t *testing.T, client kubernetes.Interface) metav1.OwnerReference {
	t.Helper()
	anchor, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "conformance-"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating the owner of others: %v", err)
	}
	harness.Eventually(t, "pods have a service account", func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: anchor.Name, UID: anchor.UID}
}

// compare plays a sequence to both sides and returns the first difference.
func compare(t *testing.T, realClient kubernetes.Interface, anchor metav1.OwnerReference, seed uint64) (operations int, difference string) {
	t.Helper()
	uids := 0
	server := model.NewHost(time.Now, func() types.UID {
		uids++
		return types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", uids))
	})
	modelClient, err := kubernetes.NewForConfig(&rest.Config{Host: "http://model", QPS: -1, Transport: direct{server},
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf}})
	if err != nil {
		t.Fatalf("building client of the model: %v", err)
	}
	name := fmt.Sprintf("%s-%d", anchor.Name, seed)
	sides := []*side{{client: realClient}, {client: modelClient}}
	for _, s := range sides {
		s.seed, s.anchor, s.known = name, anchor, map[string][]known{}
	}
	events := watchReal(t, realClient, name)
	stream, err := server.Watch(&model.Request{
		Resource: model.Pods, Namespace: namespace, List: metav1.ListOptions{ResourceVersion: "1", LabelSelector: selected + "=" + name}}, 0)
	if err != nil {
		t.Fatalf("watching the model: %v", err)
	}
	var played []string
	for _, o := range append(draw(seed, name), operation{verb: "create", resource: model.Pods, name: name + "-end", shown: true}) {
		want, got := sides[0].do(t.Context(), o), sides[1].do(t.Context(), o)
		played = append(played, fmt.Sprintf("%s -> %s", o, want))
		if got != want {
			return len(played), fmt.Sprintf("the model says\n  %s\nand kube-apiserver\n  %s\nto\n%s", got, want, strings.Join(played, "\n"))
		}
	}
	want, got := events(), eventsOf(stream)
	if got != want {
		return len(played),
			fmt.Sprintf("the model sends the events\n%s\nand kube-apiserver\n%s\nafter\n%s", got, want, strings.Join(played, "\n"))
	}
	return len(played), ""
}

// watchReal begins a watch, and returns what collects its events up to the pod that
// ends a sequence.
func watchReal(t *testing.T, client kubernetes.Interface, seed string) func() string {
	t.Helper()
	list, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatalf("listing pods: %v", err)
	}
	w, err := client.CoreV1().Pods(namespace).Watch(t.Context(),
		metav1.ListOptions{ResourceVersion: list.ResourceVersion, LabelSelector: selected + "=" + seed})
	if err != nil {
		t.Fatalf("watching pods: %v", err)
	}
	return func() string {
		defer w.Stop()
		var all []string
		deadline := time.After(30 * time.Second)
		for {
			select {
			case event, ok := <-w.ResultChan():
				if !ok {
					return strings.Join(append(all, "closed"), "\n")
				}
				all = append(all, wordsOf(event))
				if strings.HasSuffix(nameOf(event), "-end") {
					return strings.Join(all, "\n")
				}
			case <-deadline:
				return strings.Join(append(all, "nothing more in time"), "\n")
			}
		}
	}
}

func eventsOf(stream *model.Stream) string {
	var all []string
	for stream.Waiting() {
		all = append(all, wordsOf(stream.Next()))
	}
	return strings.Join(all, "\n")
}

func wordsOf(event watch.Event) string {
	object, ok := event.Object.(metav1.Object)
	if !ok {
		return fmt.Sprintf("%s %T", event.Type, event.Object)
	}
	return fmt.Sprintf("%s %s", event.Type, words(object))
}

func nameOf(event watch.Event) string {
	if object, ok := event.Object.(metav1.Object); ok {
		return object.GetName()
	}
	return ""
}
