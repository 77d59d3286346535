// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
)

// serviceName is the name of the APIService of our API.
const serviceName = "v1." + v1.GroupName

// apiService has the fields of an APIService that doctor reads.
type apiService struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		CABundle              []byte `json:"caBundle"`
		InsecureSkipTLSVerify bool   `json:"insecureSkipTLSVerify"`
		GroupPriorityMinimum  int    `json:"groupPriorityMinimum"`
		Service               *struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
			Port      int32  `json:"port"`
		} `json:"service"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// keepsBundle reports whether an operator or another program writes spec.caBundle. Then CAs that
// the server created earlier do not matter.
func (s *apiService) keepsBundle() bool {
	_, kept := s.Annotations[v1.GroupName+"/keep-ca-bundle"]
	_, injected := s.Annotations["cert-manager.io/inject-ca-from"]
	return kept || injected
}

func (e *examiner) apiService(ctx context.Context) (*apiService, error) {
	kind := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	object, err := e.dynamic.Resource(kind).Get(ctx, serviceName, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	service := &apiService{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, service); err != nil {
		return nil, fmt.Errorf("reading APIService %s: %w", serviceName, err)
	}
	return service, nil
}

// appsPriority is the priority of group apps. A group with the same or a higher priority takes over
// the short names of the built-in kinds.
const appsPriority = 17800

// registration checks that the host cluster has our API registered and reaches it.
func (e *examiner) registration(ctx context.Context) []finding {
	const about = "APIService " + serviceName
	service, err := e.apiService(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return []finding{failFinding(about, "is not registered", "kubectl apply -k artifacts/base")}
	case err != nil:
		return []finding{skipFinding(about, err)}
	}
	found := []finding{e.availability(service)}
	if service.Spec.GroupPriorityMinimum >= appsPriority {
		found = append(found,
			warnFinding(about, fmt.Sprintf("groupPriorityMinimum is %d: from %d on, \"kubectl get statefulsets\" no longer means those of group apps",
				service.Spec.GroupPriorityMinimum, appsPriority),
				"kubectl patch apiservice "+serviceName+" --type=merge -p '{\"spec\":{\"groupPriorityMinimum\":1000}}'"))
	}
	return found
}

func (e *examiner) availability(service *apiService) finding {
	const about = "APIService " + serviceName
	for _, c := range service.Status.Conditions {
		switch {
		case c.Type != "Available":
		case c.Status == metav1.ConditionTrue:
			return okFinding(about, "is available")
		default:
			return failFinding(about, fmt.Sprintf("is not available: %s: %s", c.Reason, c.Message), e.availabilityRemedies(c)...)
		}
	}
	return warnFinding(about, "the cluster has not checked it yet", "kubectl get apiservice "+serviceName)
}

// availabilityRemedies returns the commands for an APIService that is not available.
func (e *examiner) availabilityRemedies(c metav1.Condition) []string {
	server := "kubectl -n " + e.system
	switch {
	case c.Reason == "ServiceNotFound", c.Reason == "ServicePortError":
		return []string{"kubectl apply -k artifacts/base"}
	case c.Reason == "EndpointsNotFound", c.Reason == "MissingEndpoints":
		return []string{server + " get pods", server + " describe deployment statefulset-apiserver"}
	case strings.Contains(c.Message, "x509"), strings.Contains(c.Message, "certificate"):
		return []string{
			"kubectl get apiservice " + serviceName + " -o jsonpath='{.spec.caBundle}' | base64 -d | openssl x509 -noout -subject -enddate",
			server + " get secret " + servingSecret}
	case strings.Contains(c.Message, "bad status") && strings.Contains(c.Message, "503"):
		return []string{server + " logs deployment/statefulset-apiserver  # says why it does not serve; see the store below"}
	case strings.Contains(c.Message, "bad status"):
		return []string{server + " logs deployment/statefulset-apiserver",
			"kubectl -n kube-system get configmap extension-apiserver-authentication"}
	default:
		return []string{server + " get pods,endpointslices", server + " logs deployment/statefulset-apiserver",
			"# the control plane must reach port 8443 of the pods: check network policies and firewalls"}
	}
}
