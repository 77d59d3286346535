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

// undoer reverts a set to a revision. kubectl sends the data of the revision as a patch, and
// nothing if that is already the template of the set. A revision from before spec.identity existed
// does not record that the set had no identity. So for a set with an identity, undoer adds this.
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

// withoutIdentity adds an empty identity to revisions that record none.
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

// clearing returns the data of a revision with the field identity, null if the revision does not
// record it. It does not change data that cannot be read: a rollback to that revision then fails
// with the reason.
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
