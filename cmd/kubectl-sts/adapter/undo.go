// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/polymorphichelpers"

	v1 "statefulset.dev/api/apps/v1"
)

func rollbacker(others polymorphichelpers.RollbackerFunc) polymorphichelpers.RollbackerFunc {
	return func(cluster genericclioptions.RESTClientGetter, mapping *meta.RESTMapping) (polymorphichelpers.Rollbacker, error) {
		if mapping.GroupVersionKind.GroupKind() != ours() {
			return others(cluster, mapping)
		}
		config, err := configOfAppsV1(cluster)
		if err != nil {
			return nil, err
		}
		return undoer{config}, nil
	}
}

// undoer brings a set back to a revision. kubectl sends what the revision records as a patch, and
// nothing if that is the template which the set has. A revision of before there was spec.identity
// does not record that there was none, so a set that has it is told here.
type undoer struct{ config *rest.Config }

func (u undoer) Rollback(object runtime.Object, updated map[string]string, to int64, dryRun cmdutil.DryRunStrategy) (string, error) {
	config := rest.CopyConfig(u.config)
	if set, ok := object.(*v1.StatefulSet); ok && set.Spec.Identity != nil {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return withoutIdentity{next} })
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("creating a client: %w", err)
	}
	stock, err := polymorphichelpers.RollbackerFor(builtIn(), client)
	if err != nil {
		return "", err
	}
	return stock.Rollback(object, updated, to, dryRun)
}

// withoutIdentity has revisions that record no identity say that there is none.
type withoutIdentity struct{ next http.RoundTripper }

func (w withoutIdentity) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet || !strings.HasSuffix(request.URL.Path, "/controllerrevisions") ||
		!strings.Contains(request.URL.Path, "/apis/"+appsv1.SchemeGroupVersion.String()+"/") {
		return w.next.RoundTrip(request)
	}
	request = request.Clone(request.Context())
	request.Header.Set("Accept", jsonType)
	request.Header.Del("Accept-Encoding")
	response, err := w.next.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	defer response.Body.Close()
	var list map[string]json.RawMessage
	var items []map[string]json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
		return nil, fmt.Errorf("reading the revisions: %w", err)
	}
	if err := json.Unmarshal(list["items"], &items); err != nil {
		return nil, fmt.Errorf("reading the revisions: %w", err)
	}
	for i := range items {
		items[i]["data"] = clearing(items[i]["data"])
	}
	if list["items"], err = json.Marshal(items); err != nil {
		return nil, fmt.Errorf("writing the revisions: %w", err)
	}
	body, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("writing the revisions: %w", err)
	}
	withBody(response, body)
	return response, nil
}

// clearing is what a revision records, with word of an identity. What cannot be read stays as it
// is: whoever wants to go there is told why.
func clearing(data json.RawMessage) json.RawMessage {
	var recorded, spec map[string]json.RawMessage
	if json.Unmarshal(data, &recorded) != nil || json.Unmarshal(recorded["spec"], &spec) != nil || spec == nil {
		return data
	}
	if _, says := spec["identity"]; says {
		return data
	}
	spec["identity"] = json.RawMessage("null")
	changed, err := json.Marshal(spec)
	if err != nil {
		return data
	}
	recorded["spec"] = changed
	whole, err := json.Marshal(recorded)
	if err != nil {
		return data
	}
	return whole
}
