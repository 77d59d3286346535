//go:build validation

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
)

// answer is what a side has to say of a request, without what names the side.
type answer struct {
	verdict string
	// causes are the kinds of complaint, by the field complained of.
	causes   map[string][]string
	message  string
	warnings []string
	object   map[string]any
}

// create sends a set as a new one. Nothing is stored.
func (s side) create(ctx context.Context, set map[string]any) (answer, error) {
	return s.send(ctx, s.client.Post().AbsPath(s.collection()).Param("dryRun", metav1.DryRunAll), set)
}

// store sends a set as a new one that stays.
func (s side) store(ctx context.Context, set map[string]any) (answer, error) {
	return s.send(ctx, s.client.Post().AbsPath(s.collection()), set)
}

// update sends a set in the place of the one of its name. Nothing is stored.
func (s side) update(ctx context.Context, set map[string]any) (answer, error) {
	name, _, _ := unstructured.NestedString(set, "metadata", "name")
	return s.send(ctx, s.client.Put().AbsPath(s.collection(), name).Param("dryRun", metav1.DryRunAll), set)
}

// send makes the request, with the set as one of this side. An error means that
// there was no answer.
func (s side) send(ctx context.Context, request *rest.Request, set map[string]any) (answer, error) {
	set = runtime.DeepCopyJSON(set)
	set["apiVersion"] = s.apiVersion
	body, err := json.Marshal(set)
	if err != nil {
		return answer{}, fmt.Errorf("encoding the set: %w", err)
	}
	heard := &warnings{}
	content, err := request.Param("fieldValidation", metav1.FieldValidationStrict).Param("fieldManager", "validation").
		SetHeader("Content-Type", runtime.ContentTypeJSON).SetHeader("Accept", runtime.ContentTypeJSON).
		WarningHandlerWithContext(heard).Body(body).Do(ctx).Raw()
	if err != nil {
		return s.refusal(err, content)
	}
	accepted := answer{verdict: "accepted", warnings: heard.texts}
	if err := json.Unmarshal([]byte(s.neutral(string(content))), &accepted.object); err != nil {
		return answer{}, fmt.Errorf("reading the answer: %w", err)
	}
	return accepted, nil
}

// refusal reads an error. Only that of a server is an answer.
func (s side) refusal(err error, content []byte) (answer, error) {
	status := &metav1.Status{}
	if json.Unmarshal(content, status) != nil || status.Reason == "" {
		var api apierrors.APIStatus
		if !errors.As(err, &api) {
			return answer{}, fmt.Errorf("asking %s: %w", s.apiVersion, err)
		}
		from := api.Status()
		status = &from
	}
	refused := answer{verdict: "refused: " + string(status.Reason), causes: map[string][]string{}, message: s.neutral(status.Message)}
	if status.Details == nil {
		return refused, nil
	}
	for _, cause := range status.Details.Causes {
		kinds := refused.causes[cause.Field]
		if !slices.Contains(kinds, string(cause.Type)) {
			refused.causes[cause.Field] = append(kinds, string(cause.Type))
		}
	}
	for _, kinds := range refused.causes {
		slices.Sort(kinds)
	}
	return refused, nil
}

// neutral takes what names the side out of a text.
func (s side) neutral(text string) string {
	group, _, _ := strings.Cut(s.apiVersion, "/")
	return strings.NewReplacer(`"`+s.apiVersion+`"`, `"apps/v1"`, "StatefulSet."+group, "StatefulSet.apps", "statefulsets."+group,
		"statefulsets.apps", s.namespace, "NAMESPACE").Replace(text)
}

// warnings hears the warnings of one request.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if code == 299 {
		w.texts = append(w.texts, text)
	}
}
