// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import dev.statefulset.client.model.V1DeleteOptions;
import dev.statefulset.client.model.V1Scale;
import dev.statefulset.client.model.V1StatefulSet;
import dev.statefulset.client.model.V1StatefulSetList;
import dev.statefulset.client.model.V1StatefulSetPlan;
import dev.statefulset.client.model.V1StatefulSetReplacement;
import dev.statefulset.client.model.V1StatefulSetRollout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeoutException;

/** The sets of a namespace. Parameters of requests are given by their names in the API, such as labelSelector. */
public final class StatefulSets {
  private static final String VERSION = "apps.statefulset.dev/v1";
  private static final String KIND = "StatefulSet";
  private static final String JSON = "application/json";

  private final Client client;
  private final String collection;

  StatefulSets(Client client, String namespace) {
    this.client = client;
    this.collection = "/apis/" + VERSION + "/namespaces/" + Client.escape(namespace) + "/statefulsets";
  }

  public V1StatefulSet create(V1StatefulSet set) {
    return client.send("POST", collection, Map.of(), JSON, identified(set), V1StatefulSet.class);
  }

  public V1StatefulSet get(String name) {
    return client.send("GET", one(name), Map.of(), JSON, null, V1StatefulSet.class);
  }

  /** One page of the sets; labelSelector, fieldSelector, limit and continue choose which. */
  public V1StatefulSetList list(Map<String, String> query) {
    return client.send("GET", collection, query, JSON, null, V1StatefulSetList.class);
  }

  /** All sets, of which each request gets so many. */
  public Iterable<V1StatefulSet> all(int limit, Map<String, String> query) {
    return () -> new Pages(limit, query);
  }

  /** Replaces a set by another, which has the version that it was read with. */
  public V1StatefulSet update(V1StatefulSet set) {
    return client.send("PUT", one(set.getMetadata().getName()), Map.of(), JSON, identified(set), V1StatefulSet.class);
  }

  public void delete(String name) {
    delete(name, null);
  }

  public void delete(String name, V1DeleteOptions options) {
    client.send("DELETE", one(name), Map.of(), JSON, options, null);
  }

  public V1StatefulSet patchMerge(String name, Object patch) {
    return patch(PatchKind.MERGE, name, patch, null);
  }

  public V1StatefulSet patchStrategic(String name, Object patch) {
    return patch(PatchKind.STRATEGIC, name, patch, null);
  }

  public V1StatefulSet patchJson(String name, List<?> operations) {
    return patch(PatchKind.JSON, name, operations, null);
  }

  /** Server-side apply: fields of other managers are a Conflict, unless force takes them over. */
  public V1StatefulSet apply(String name, Map<String, ?> set, String fieldManager, boolean force) {
    Map<String, Object> body = new LinkedHashMap<>(Map.of("apiVersion", VERSION, "kind", KIND));
    body.putAll(set);
    Map<String, Object> metadata = new LinkedHashMap<>();
    if (set.get("metadata") instanceof Map<?, ?> given) {
      given.forEach((key, value) -> metadata.put(key.toString(), value));
    }
    metadata.put("name", name);
    body.put("metadata", metadata);
    return patch(PatchKind.APPLY, name, body, fieldManager, force);
  }

  public V1StatefulSet patch(PatchKind kind, String name, Object patch, String fieldManager) {
    return patch(kind, name, patch, fieldManager, false);
  }

  private V1StatefulSet patch(PatchKind kind, String name, Object patch, String fieldManager, boolean force) {
    kind.check(patch, fieldManager, force);
    Map<String, String> query = new LinkedHashMap<>();
    if (fieldManager != null) {
      query.put("fieldManager", fieldManager);
    }
    if (force) {
      query.put("force", "true");
    }
    return client.send("PATCH", one(name), query, kind.mediaType, patch, V1StatefulSet.class);
  }

  public V1Scale getScale(String name) {
    return client.send("GET", one(name) + "/scale", Map.of(), JSON, null, V1Scale.class);
  }

  public V1Scale updateScale(String name, V1Scale scale) {
    return client.send("PUT", one(name) + "/scale", Map.of(), JSON, scale, V1Scale.class);
  }

  public V1Scale scale(String name, int replicas) {
    Map<String, ?> patch = Map.of("spec", Map.of("replicas", replicas));
    return client.send("PATCH", one(name) + "/scale", Map.of(), PatchKind.MERGE.mediaType, patch, V1Scale.class);
  }

  /** What the controller does for a set. */
  public V1StatefulSetPlan plan(String name) {
    return client.send("GET", one(name) + "/plan", Map.of(), JSON, null, V1StatefulSetPlan.class);
  }

  /** What it would do if the set were as proposed: a set, a V1Scale, a replacement or a rollout, with apiVersion and kind. */
  public V1StatefulSetPlan plan(String name, Object proposed) {
    return client.send("POST", one(name) + "/plan", Map.of(), JSON, proposed, V1StatefulSetPlan.class);
  }

  public V1StatefulSetReplacement replace(String name, V1StatefulSetReplacement request) {
    return client.send("POST", one(name) + "/replace", Map.of(), JSON, request, V1StatefulSetReplacement.class);
  }

  public V1StatefulSetRollout rollout(String name, V1StatefulSetRollout request) {
    return client.send("POST", one(name) + "/rollout", Map.of(), JSON, request, V1StatefulSetRollout.class);
  }

  /** All changes after the version of a list or of a set, one after the other; limit may be null. */
  public Changes changes(String resourceVersion, Map<String, String> query, Duration limit) {
    return new Changes(client, collection, query, resourceVersion, limit);
  }

  /** The same, published. Errors, such as ApiError.Gone, end it. */
  public Flow.Publisher<Change> watch(String resourceVersion, Map<String, String> query) {
    return new ChangePublisher(() -> changes(resourceVersion, query, null));
  }

  /** Waits until all members of a set serve what its spec says. */
  public V1StatefulSet waitUntilReady(String name, Duration limit) throws TimeoutException {
    V1StatefulSet set = get(name);
    if (isReady(set)) {
      return set;
    }
    try (Changes changes = changes(set.getMetadata().getResourceVersion(), Map.of("fieldSelector", "metadata.name=" + name), limit)) {
      while (changes.hasNext()) {
        Change change = changes.next();
        if (change.type().equals("DELETED")) {
          throw new NoSuchElementException(name + " was deleted");
        }
        if (isReady(change.set())) {
          return change.set();
        }
      }
    }
    throw new TimeoutException(name + " was not ready within " + limit);
  }

  private static boolean isReady(V1StatefulSet set) {
    if (set.getStatus() == null || !set.getMetadata().getGeneration().equals(set.getStatus().getObservedGeneration())) {
      return false;
    }
    int wanted = set.getSpec().getReplicas() == null ? 1 : set.getSpec().getReplicas();
    int ready = set.getStatus().getReadyReplicas() == null ? 0 : set.getStatus().getReadyReplicas();
    return ready == wanted;
  }

  private String one(String name) {
    return collection + "/" + Client.escape(name);
  }

  private static V1StatefulSet identified(V1StatefulSet set) {
    if (set.getApiVersion() == null) {
      set.setApiVersion(VERSION);
    }
    if (set.getKind() == null) {
      set.setKind(KIND);
    }
    return set;
  }

  private final class Pages implements Iterator<V1StatefulSet> {
    private final Map<String, String> query;
    private final Queue<V1StatefulSet> page = new ArrayDeque<>();
    private boolean more = true;

    Pages(int limit, Map<String, String> query) {
      this.query = new LinkedHashMap<>(query);
      this.query.put("limit", Integer.toString(limit));
    }

    @Override
    public boolean hasNext() {
      while (page.isEmpty() && more) {
        V1StatefulSetList list = list(query);
        page.addAll(list.getItems());
        String next = list.getMetadata().getContinue();
        more = next != null && !next.isEmpty();
        query.put("continue", more ? next : "");
      }
      return !page.isEmpty();
    }

    @Override
    public V1StatefulSet next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return page.remove();
    }
  }
}
