// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

import dev.statefulset.client.ApiError;
import dev.statefulset.client.Change;
import dev.statefulset.client.Changes;
import dev.statefulset.client.Client;
import dev.statefulset.client.PatchKind;
import dev.statefulset.client.StatefulSets;
import dev.statefulset.client.model.V1Container;
import dev.statefulset.client.model.V1LabelSelector;
import dev.statefulset.client.model.V1ObjectMeta;
import dev.statefulset.client.model.V1PodSpec;
import dev.statefulset.client.model.V1PodTemplateSpec;
import dev.statefulset.client.model.V1Scale;
import dev.statefulset.client.model.V1ScaleSpec;
import dev.statefulset.client.model.V1StatefulSet;
import dev.statefulset.client.model.V1StatefulSetSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Takes a set through its life with the Java client, in the namespace that the kubeconfig names. */
public final class Example {
  private static final String NAME = "example-java";
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private Example() {}

  public static void main(String[] args) throws Exception {
    StatefulSets sets = Client.connect().statefulSets();
    V1StatefulSet created = sets.create(web());
    System.out.println("created " + created.getMetadata().getName());
    sets.waitUntilReady(NAME, LIMIT);
    System.out.println("ready");

    sets.scale(NAME, 2);
    try (Changes changes = sets.changes(created.getMetadata().getResourceVersion(), Map.of("fieldSelector", "metadata.name=" + NAME), LIMIT)) {
      while (changes.hasNext()) {
        Change change = changes.next();
        Integer ready = change.set().getStatus() == null ? null : change.set().getStatus().getReadyReplicas();
        System.out.println(change.type() + " " + ready + " of " + change.set().getSpec().getReplicas() + " ready");
        if (ready != null && ready == 2) {
          break;
        }
      }
    }
    System.out.println("scaled");

    V1Scale scale = new V1Scale().apiVersion("autoscaling/v1").kind("Scale").metadata(new V1ObjectMeta().name(NAME)).spec(new V1ScaleSpec().replicas(4));
    System.out.println("plan for 4 replicas: " + sets.plan(NAME, scale).getRounds().size() + " rounds");
    patch(sets);
    sets.delete(NAME);
    System.out.println("deleted " + NAME);
  }

  private static V1StatefulSet web() {
    Map<String, String> labels = Map.of("app", NAME);
    V1PodSpec pod = new V1PodSpec().containers(List.of(new V1Container().name("web").image("nginx:1")));
    return new V1StatefulSet()
        .metadata(new V1ObjectMeta().name(NAME))
        .spec(
            new V1StatefulSetSpec()
                .replicas(1)
                .serviceName(NAME)
                .selector(new V1LabelSelector().matchLabels(labels))
                .template(new V1PodTemplateSpec().metadata(new V1ObjectMeta().labels(labels)).spec(pod)));
  }

  private static void patch(StatefulSets sets) {
    Map<String, ?> image = Map.of("name", "web", "image", "nginx:2");
    sets.patch(PatchKind.MERGE, NAME, Map.of("metadata", Map.of("annotations", Map.of("by", "merge"))), "example");
    sets.patch(PatchKind.STRATEGIC, NAME, Map.of("spec", Map.of("template", Map.of("spec", Map.of("containers", List.of(image))))), "example");
    sets.patch(PatchKind.JSON, NAME, List.of(Map.of("op", "replace", "path", "/metadata/annotations/by", "value", "json")), "example");
    System.out.println("patched: merge, strategic, json");
    Map<String, ?> wanted = Map.of("metadata", Map.of("annotations", Map.of("by", "apply")));
    try {
      sets.apply(NAME, wanted, "another", false);
      throw new IllegalStateException("another manager's field was taken over without force");
    } catch (ApiError.Conflict conflict) {
      System.out.println("conflict: " + conflict.getMessage());
    }
    sets.apply(NAME, wanted, "another", true);
    System.out.println("patched: apply");
  }
}
