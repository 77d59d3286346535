// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// subject is the verb and the object of a request, for a refusal that does not name them.
type subject struct {
	verb, name string
}

// longest is the maximum number of bytes to read of a refusal.
const longest = 1 << 20

// inPlainWords turns a refusal that is not a Status into a Status, such as the refusal of the
// aggregator when our server is down. Otherwise the client would create a Status that names the
// kind of apps/v1. A refusal by our server is already a correct Status.
func inPlainWords(response *http.Response, of subject) (*http.Response, error) {
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, longest))
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	var told metav1.TypeMeta
	if json.Unmarshal(body, &told) == nil && told.Kind == "Status" {
		withBody(response, body)
		return response, nil
	}
	status := apierrors.NewGenericServerResponse(response.StatusCode, of.verb, v1.Resource(resource), of.name, string(body), 0, true).Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if body, err = json.Marshal(status); err != nil {
		return nil, fmt.Errorf("writing a refusal: %w", err)
	}
	response.Header.Set("Content-Type", jsonType)
	withBody(response, body)
	return response, nil
}
