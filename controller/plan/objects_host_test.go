// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// objectTemplates reads templates such as conf, a ConfigMap of each member, peers, a Service of
// the set, count, a ConfigMap that says how many members there are, list, one of the set that says
// which and by which Service they are found, ext and vip, Services of each member and of the set that have the outputs ADDRESS and VIP,
// closed, which is vip with an expression that is refused, vips, which is vip and says which members
// there are, bad, which cannot be rendered for all, and frail, which can for two members; conf:2 has
// other data, and conf! refuses objects of others; moved is conf with other names.
func (h *host) objectTemplates(text string) (templates []v1.ObjectTemplate) {
	h.t.Helper()
	if text == "none" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		part, refuses := strings.CutSuffix(part, "!")
		name, data, _ := strings.Cut(part, ":")
		template := v1.ObjectTemplate{Name: name}
		kind, object, labels := "ConfigMap", "$(IDENTITY)-"+name, fmt.Sprintf(`"data":"v%s"`, data)
		switch name {
		case "conf":
		case "ext":
			kind, template.Outputs = "Service", []v1.ObjectOutput{{Name: "ADDRESS", Expression: "object.address"}}
		case "vip":
			kind, object, template.Scope, template.Outputs = "Service", "$(SET)-vip", v1.SetObjectScope,
				[]v1.ObjectOutput{{Name: "VIP", Expression: "object.address"}}
		case "closed":
			template.Name, kind, object, template.Scope = "vip", "Service", "$(SET)-vip", v1.SetObjectScope
			template.Outputs = []v1.ObjectOutput{{Name: "VIP", Expression: "closed.address"}}
		case "auth", "sst", "sesame":
			kind, template.Generate = "Secret", []v1.GeneratedKey{{Key: "password", Bytes: 24}}
			if name == "sst" {
				object, template.Scope = "$(SET)-sst", v1.SetObjectScope
			}
			if name == "sesame" { // another name for auth
				object = "$(IDENTITY)-auth"
			}
		case "again":
			object = "$(IDENTITY)-conf"
		case "moved": // conf, with another name of its objects
			template.Name, object = "conf", "$(IDENTITY)-moved"
		case "peers":
			kind, object, template.Scope = "Service", "$(SET)-peers", v1.SetObjectScope
		case "count":
			labels = `"data":"$(REPLICAS)"`
		case "list", "vips":
			object, template.Scope, labels = "$(SET)-list", v1.SetObjectScope, `"data":"$(MEMBERS)","by":"$(SERVICE)"`
			if name == "vips" {
				template.Name, kind, object, template.Outputs = "vip", "Service", "$(SET)-vip",
					[]v1.ObjectOutput{{Name: "VIP", Expression: "object.address"}}
			}
			template.Transforms = []v1.Transform{{Path: "/metadata/labels/data", Expression: "MEMBERS.map(m, string(m.ordinal)).join('-')"}}
		case "frail":
			template.Transforms = []v1.Transform{{Path: "/metadata/labels/x", Expression: "string([1, 1, 1][REPLICAS])"}}
		case "bad":
			template.Transforms = []v1.Transform{{Path: "/metadata/labels/x", Expression: "string(" + failsBeyond + ")"}}
		default:
			h.t.Fatalf("unknown template of objects %q", name)
		}
		if refuses {
			template.ExistingPolicy = v1.RefuseExistingObject
		}
		template.Object = runtime.RawExtension{
			Raw: fmt.Appendf(nil, `{"apiVersion":"v1","kind":%q,"metadata":{"name":%q,"labels":{%s}}}`, kind, object, labels)}
		templates = append(templates, template)
	}
	return templates
}

// kindsOfObjects says which objects the planner knows.
func (h *host) kindsOfObjects() map[schema.GroupKind]Kind {
	if len(h.set.Spec.ObjectTemplates)+len(identity.RemovedTemplates(&h.set.Status)) == 0 {
		return nil
	}
	known := Kind{Known: true}
	if h.unknown != nil {
		known = *h.unknown
	}
	return map[schema.GroupKind]Kind{{Kind: "ConfigMap"}: known, {Kind: "Service"}: {Known: true}, {Kind: "Secret"}: {Known: true}}
}

func copiesOfObjects(objects map[identity.ObjectKey]*Object) map[identity.ObjectKey]*Object {
	all := maps.Clone(objects)
	for key, object := range all {
		next := *object
		next.ObjectMeta = *object.DeepCopy()
		all[key] = &next
	}
	return all
}

// keyOf reads a name such as ConfigMap/web-0-conf.
func keyOf(text string) identity.ObjectKey {
	kind, name, _ := strings.Cut(text, "/")
	return identity.ObjectKey{Kind: kind, Name: name}
}

func textOf(key identity.ObjectKey) string { return key.Kind + "/" + key.Name }

// objectNames are those of all objects, in order.
func (h *host) objectNames() (names []string) {
	for key := range h.objects {
		names = append(names, textOf(key))
	}
	slices.Sort(names)
	return names
}

// changeObject does to an object what somebody else than the controller does.
func (h *host) changeObject(name string, do func(*Object)) {
	h.t.Helper()
	old := h.objects[keyOf(name)]
	if old == nil {
		h.t.Fatalf("there is no %s", name)
	}
	h.writes++
	next := copiesOfObjects(map[identity.ObjectKey]*Object{{}: old})[identity.ObjectKey{}]
	next.ResourceVersion = fmt.Sprint(h.writes)
	do(next)
	h.objects[keyOf(name)] = next
}

// objectCommand carries out the commands about objects, and reports false if it knows no such
// command: "stranger ConfigMap/web-0-conf" is made by somebody else, "differ ConfigMap/web-0-conf=data.a"
// has it differ from what the set describes, "share" is one made by another set, "drift" changes one,
// "rewrite" changes it whenever it is applied, "killobject" has it terminate, "dropobject" removes it;
// "unknown" and "refused" have no ConfigMaps be known, "known" ends that.
func (h *host) objectCommand(name string, args []string) bool {
	made := func(owner string, lives bool) func(string) {
		return func(object string) {
			h.writes++
			key := keyOf(object)
			h.objects[key] = &Object{
				ObjectMeta: metav1.ObjectMeta{Name: key.Name, UID: "other", ResourceVersion: fmt.Sprint(h.writes)}, OwnerLives: lives}
			if owner != "" {
				h.objects[key].Annotations = map[string]string{ownerNote: owner}
			}
		}
	}
	do := func(string) {}
	switch name {
	case "stranger":
		do = made("", false)
	case "differ": // ConfigMap/web-0-conf=data.a
		do = func(object string) {
			name, path, _ := strings.Cut(object, "=")
			if h.differences == nil {
				h.differences = map[identity.ObjectKey]string{}
			}
			h.differences[keyOf(name)] = path
			h.changeObject(name, func(*Object) {})
		}
	case "share":
		do = made("other/other-uid", true)
	case "leave":
		do = made("other/other-uid", false)
	case "drift":
		do = func(object string) {
			h.changeObject(object, func(o *Object) { o.Drifted, o.DriftedBy = true, "kubectl-edit" })
		}
	case "driftagain":
		do = func(object string) {
			h.changeObject(object, func(o *Object) { o.Drifted, o.NotBefore = true, h.now.Add(shortWait) })
		}
	case "rewrite":
		do = func(object string) {
			h.changeObject(object, func(o *Object) {
				o.Drifted, o.DriftedBy, o.Settled = true, "webhook", o.Annotations[v1.ObjectInputsAnnotation]
			})
		}
	case "killobject":
		do = func(object string) {
			h.changeObject(object, func(o *Object) { o.DeletionTimestamp = &metav1.Time{Time: h.now} })
		}
	case "dropobject":
		do = h.dropObject
	case "unknown":
		h.unknown = &Kind{}
	case "refused":
		h.unknown = &Kind{Refused: "configmaps is forbidden"}
	case "known":
		h.unknown = nil
	case "restore":
		do = h.restoreSecret
	default:
		return h.retentionCommand(name, args) || h.anchorCommand(name, args) || h.outputCommand(name, args)
	}
	for _, object := range args {
		do(object)
	}
	return true
}

// shortWait is until when a correction is put off.
const shortWait = 20 * time.Second

// objectEvent is the command by which an event happens to objects, nil if there is none.
func (h *host) objectEvent(e event) []string {
	able := h.objectNames()
	switch e.Kind {
	case "unknown", "refused", "known":
		if len(h.set.Spec.ObjectTemplates) == 0 {
			return nil
		}
		return []string{e.Kind}
	case "late", "withhold", "give", "expose":
		return h.outputEvent(e)
	case "stranger", "share", "leave":
		able = nil
		for _, name := range []string{
			"ConfigMap/web-0-conf", "ConfigMap/web-1-conf", "ConfigMap/web-2-count", "Service/web-peers", "Secret/web-0-auth", "Secret/web-sst"} {
			if h.objects[keyOf(name)] == nil {
				able = append(able, name)
			}
		}
	default:
		able = slices.DeleteFunc(able, func(name string) bool {
			terminates := h.objects[keyOf(name)].DeletionTimestamp != nil
			ours := strings.HasPrefix(h.objects[keyOf(name)].Annotations[ownerNote], "web/")
			return e.Kind != "dropobject" && (terminates || e.Kind != "killobject" && !ours)
		})
	}
	return on(e, able)
}

// collectObjects removes what terminates.
func (h *host) collectObjects() (acted []string) {
	for _, name := range h.objectNames() {
		if h.objects[keyOf(name)].DeletionTimestamp != nil {
			h.dropObject(name)
			acted = append(acted, name+" is gone")
		}
	}
	return acted
}

// healObjects is what a user does about objects that cannot be made.
func (s *stage) healObjects() {
	if s.unknown != nil {
		s.happen("known")
	}
	s.healOutputs()
	for _, name := range s.objectNames() {
		if owner := s.objects[keyOf(name)].Annotations[ownerNote]; !strings.HasPrefix(owner, "web/") {
			s.happen("dropobject", name)
		}
	}
	for _, key := range s.lostSecrets() {
		if s.objects[key] != nil {
			s.happen("dropobject", textOf(key))
		}
		s.happen("restore", textOf(key))
	}
	if slices.ContainsFunc(s.set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return t.Name == "bad" || t.Name == "again" }) {
		s.happen("set", "objects=conf")
	}
}

// hindered reports whether objects may keep the set from coming to rest.
func (s *stage) hindered() bool {
	strangers := slices.ContainsFunc(s.objectNames(), func(name string) bool {
		return !strings.HasPrefix(s.objects[keyOf(name)].Annotations[ownerNote], "web/")
	})
	bad := slices.ContainsFunc(s.set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return t.Name == "bad" || t.Name == "again" })
	return s.unknown != nil || strangers || bad || len(s.lostSecrets()) > 0 || s.withholds()
}
