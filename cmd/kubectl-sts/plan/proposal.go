// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/cmd/kubectl-sts/members"
)

// unchanged means that the number of replicas does not change.
const unchanged = -1

// change is the change of sets to plan.
type change struct {
	file     string
	replicas int32
	images   []string
	removed  []string
	// promoted, promotedAll and aborted are decisions about the running update.
	promoted             int32
	promotedAll, aborted bool
	// replaced lists the members to replace. With forced, they are replaced although other members
	// are unavailable.
	replaced []string
	forced   bool
}

func (c change) isNone() bool {
	return !c.decides() && !c.replaces() && c.file == "" && c.replicas == unchanged && len(c.images) == 0 && len(c.removed) == 0
}

func (c change) validate() error {
	if err := c.validateRequest(); err != nil {
		return err
	}
	if c.replicas < unchanged {
		return fmt.Errorf("--replicas is %d, must be 0 or more", c.replicas)
	}
	if c.replicas != unchanged && len(c.removed) > 0 {
		return errors.New("use either --replicas or --remove: --remove lowers replicas by the number of removed members")
	}
	for _, image := range c.images {
		if container, name, ok := strings.Cut(image, "="); !ok || container == "" || name == "" {
			return fmt.Errorf("--image is %q, must be CONTAINER=IMAGE", image)
		}
	}
	return nil
}

// ask gets the plans of the set named in args, or of the sets in the file.
func (r *request) ask(ctx context.Context, args []string, stdin io.Reader) ([]*v1.StatefulSetPlan, error) {
	if r.change.isNone() {
		plan, err := r.sets.AppsV1().StatefulSets(r.namespace).GetPlan(ctx, args[0], metav1.GetOptions{})
		return []*v1.StatefulSetPlan{plan}, err
	}
	if r.change.decides() {
		plan, err := r.askDecided(ctx, args[0])
		return []*v1.StatefulSetPlan{plan}, err
	}
	if r.change.replaces() {
		plan, err := r.askReplaced(ctx, args[0])
		return []*v1.StatefulSetPlan{plan}, err
	}
	sets, err := r.proposals(ctx, args, stdin)
	if err != nil {
		return nil, err
	}
	var plans []*v1.StatefulSetPlan
	for _, set := range sets {
		if err := r.change.apply(set); err != nil {
			return nil, err
		}
		plan, err := r.sets.AppsV1().StatefulSets(set.Namespace).CreatePlan(ctx, set.Name, set, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// proposals returns the sets to which the flags apply.
func (r *request) proposals(ctx context.Context, args []string, stdin io.Reader) ([]*v1.StatefulSet, error) {
	if r.change.file == "" {
		set, err := r.sets.AppsV1().StatefulSets(r.namespace).Get(ctx, args[0], metav1.GetOptions{})
		return []*v1.StatefulSet{set}, err
	}
	sets, err := readFile(r.change.file, stdin)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		if set.Namespace == "" {
			set.Namespace = r.namespace
		}
		if err := r.keepReplicas(ctx, set); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// keepReplicas keeps the replicas of the live set if the file does not specify them, as applying
// such a file would: another client, such as an autoscaler, manages the field.
func (r *request) keepReplicas(ctx context.Context, set *v1.StatefulSet) error {
	if set.Spec.Replicas != nil {
		return nil
	}
	live, err := r.sets.AppsV1().StatefulSets(set.Namespace).Get(ctx, set.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	set.Spec.Replicas = live.Spec.Replicas
	return nil
}

// readFile returns the sets of our group in a file. It ignores other objects.
func readFile(path string, stdin io.Reader) ([]*v1.StatefulSet, error) {
	from := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("opening --filename: %w", err)
		}
		defer file.Close()
		from = file
	}
	var sets []*v1.StatefulSet
	reader := utilyaml.NewYAMLOrJSONDecoder(from, 4096)
	for {
		var raw map[string]any
		err := reader.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		if raw["apiVersion"] != v1.SchemeGroupVersion.String() || raw["kind"] != v1.Kind {
			continue
		}
		set, err := decode(raw)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		sets = append(sets, set)
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("%s has no %s of %s", path, v1.Kind, v1.SchemeGroupVersion)
	}
	return sets, nil
}

// decode refuses fields that do not exist, because a plan that ignores them would be wrong.
func decode(raw map[string]any) (*v1.StatefulSet, error) {
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, err
	}
	set := &v1.StatefulSet{}
	unknown, err := kjson.UnmarshalStrict(text, set)
	if err := errors.Join(append(unknown, err)...); err != nil {
		return nil, err
	}
	if set.Name == "" {
		return nil, errors.New("metadata.name is missing: a plan is for one set")
	}
	return set, nil
}

// apply changes a set according to the flags.
func (c change) apply(set *v1.StatefulSet) error {
	if c.replicas != unchanged {
		set.Spec.Replicas = &c.replicas
	}
	if len(c.removed) > 0 {
		removal, err := members.Remove(set, c.removed)
		if err != nil {
			return err
		}
		removal.Apply(set)
	}
	containers := set.Spec.Template.Spec.Containers
	for _, image := range c.images {
		name, to, _ := strings.Cut(image, "=")
		found := false
		for i := range containers {
			if name == "*" || containers[i].Name == name {
				containers[i].Image, found = to, true
			}
		}
		if !found {
			return fmt.Errorf("--image is %q, but set %s has no container %q: it has %s", image, set.Name, name, strings.Join(namesOf(set), ", "))
		}
	}
	return nil
}

func namesOf(set *v1.StatefulSet) []string {
	var names []string
	for i := range set.Spec.Template.Spec.Containers {
		names = append(names, set.Spec.Template.Spec.Containers[i].Name)
	}
	slices.Sort(names)
	return names
}
