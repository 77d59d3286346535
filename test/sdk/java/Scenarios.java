// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

import dev.statefulset.client.ApiError;
import dev.statefulset.client.Change;
import dev.statefulset.client.Changes;
import dev.statefulset.client.Client;
import dev.statefulset.client.IntOrString;
import dev.statefulset.client.Json;
import dev.statefulset.client.Quantity;
import dev.statefulset.client.StatefulSets;
import dev.statefulset.client.model.V1Container;
import dev.statefulset.client.model.V1LabelSelector;
import dev.statefulset.client.model.V1ObjectMeta;
import dev.statefulset.client.model.V1PodSpec;
import dev.statefulset.client.model.V1PodTemplateSpec;
import dev.statefulset.client.model.V1ResourceRequirements;
import dev.statefulset.client.model.V1RollingUpdateStatefulSetStrategy;
import dev.statefulset.client.model.V1Scale;
import dev.statefulset.client.model.V1ScaleSpec;
import dev.statefulset.client.model.V1StatefulSet;
import dev.statefulset.client.model.V1StatefulSetSpec;
import dev.statefulset.client.model.V1StatefulSetUpdateStrategy;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Plays the scenarios with the Java client, and prints a line for each. */
public final class Scenarios {
  interface Play {
    void run() throws Exception;
  }

  private static final Client CLIENT = Client.connect();
  static final StatefulSets SETS = CLIENT.statefulSets();
  private static final Duration LIMIT = Duration.ofSeconds(100);

  private Scenarios() {}

  private static V1StatefulSet set(String name) {
    Map<String, String> labels = Map.of("app", name);
    V1Container container = new V1Container().name("main").image("example.test/main:1");
    V1PodTemplateSpec template =
        new V1PodTemplateSpec().metadata(new V1ObjectMeta().labels(labels)).spec(new V1PodSpec().containers(List.of(container)));
    V1StatefulSetSpec spec = new V1StatefulSetSpec().replicas(0).serviceName(name).selector(new V1LabelSelector().matchLabels(labels)).template(template);
    return new V1StatefulSet().metadata(new V1ObjectMeta().name(name).labels(Map.of("play", name))).spec(spec);
  }

  static V1StatefulSet create(String name) {
    return SETS.create(set(name));
  }

  static void equal(Object got, Object want) {
    if (!Objects.equals(got, want)) {
      throw new AssertionError("got " + got + ", want " + want);
    }
  }

  static <T extends Exception> T raises(Class<T> kind, String word, Play attempt) throws Exception {
    try {
      attempt.run();
    } catch (Exception e) {
      if (kind.isInstance(e) && e.getMessage().contains(word)) {
        return kind.cast(e);
      }
      throw new AssertionError("want a " + kind + " with the word " + word, e);
    }
    throw new AssertionError("got no " + kind);
  }

  private static void again(Play attempt) throws Exception {
    for (int i = 0; i < 10; i++) {
      try {
        attempt.run();
        return;
      } catch (ApiError.Conflict e) {
        // The controller writes, too.
      }
    }
    attempt.run();
  }

  private static Map<String, ?> annotation(String key, String value) {
    return Map.of("metadata", Map.of("annotations", Map.of(key, value)));
  }

  private static void crud() throws Exception {
    create("crud");
    again(
        () -> {
          V1StatefulSet read = SETS.get("crud");
          read.getMetadata().setAnnotations(Map.of("put", "yes"));
          SETS.update(read);
        });
    SETS.patchMerge("crud", annotation("merge", "yes"));
    Map<String, ?> second = Map.of("name", "second", "image", "example.test/second:1");
    SETS.patchStrategic("crud", Map.of("spec", Map.of("template", Map.of("spec", Map.of("containers", List.of(second))))));
    SETS.patchJson("crud", List.of(Map.of("op", "add", "path", "/metadata/annotations/json", "value", "yes")));
    V1StatefulSet now = SETS.apply("crud", annotation("apply", "yes"), "crud", false);
    equal(now.getMetadata().getAnnotations(), Map.of("put", "yes", "merge", "yes", "json", "yes", "apply", "yes"));
    equal(now.getSpec().getTemplate().getSpec().getContainers().size(), 2);
    SETS.delete("crud");
    raises(ApiError.NotFound.class, "crud", () -> SETS.get("crud"));
  }

  private static void pages() {
    List<String> names = List.of("page-0", "page-1", "page-2", "page-3", "page-4");
    names.forEach(Scenarios::create);
    List<String> found = new ArrayList<>();
    SETS.all(2, Map.of("labelSelector", "play in (" + String.join(",", names) + ")")).forEach(one -> found.add(one.getMetadata().getName()));
    equal(found, names);
    equal(SETS.list(Map.of("limit", "2")).getItems().size(), 2);
  }

  /** Plays the life of a set, and returns the version before it. */
  private static String live(String name) {
    String version = SETS.list(Map.of()).getMetadata().getResourceVersion();
    create(name);
    List.of("1", "2", "3").forEach(step -> SETS.patchMerge(name, annotation("step", step)));
    SETS.delete(name);
    return version;
  }

  private static void told(List<String> told, Change change) {
    Map<String, String> annotations = change.set().getMetadata().getAnnotations();
    String step = change.type() + (annotations == null ? "" : annotations.getOrDefault("step", ""));
    // Between these, the controller writes the status.
    if (!step.equals("MODIFIED") && (told.isEmpty() || !told.get(told.size() - 1).equals(step))) {
      told.add(step);
    }
  }

  private static final List<String> LIFE = List.of("ADDED", "MODIFIED1", "MODIFIED2", "MODIFIED3", "DELETED3");

  /** By the publisher; a change is asked for when the one before has come. */
  private static void watched() throws Exception {
    BlockingQueue<Object> queue = new LinkedBlockingQueue<>();
    SETS.watch(live("watched"), Map.of("labelSelector", "play=watched"))
        .subscribe(
            new Flow.Subscriber<>() {
              private Flow.Subscription subscription;

              @Override
              public void onSubscribe(Flow.Subscription made) {
                subscription = made;
                made.request(1);
              }

              @Override
              public void onNext(Change change) {
                queue.add(change);
                if (change.type().equals("DELETED")) {
                  subscription.cancel();
                } else {
                  subscription.request(1);
                }
              }

              @Override
              public void onError(Throwable error) {
                queue.add(error);
              }

              @Override
              public void onComplete() {
                queue.add("complete");
              }
            });
    List<String> told = new ArrayList<>();
    Object next = queue.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
    for (; next instanceof Change change; next = queue.poll(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
      told(told, change);
    }
    equal(next, "complete");
    equal(told, LIFE);
  }

  private static void resumed(String name, Duration silence) {
    List<String> told = new ArrayList<>();
    try (Changes changes = SETS.changes(live(name), Map.of("labelSelector", "play=" + name), LIMIT).silence(silence)) {
      while (!told.contains("DELETED3")) {
        told(told, changes.next());
      }
    }
    equal(told, LIFE);
  }

  private static void expired() throws Exception {
    try (Changes changes = SETS.changes("1", Map.of(), LIMIT)) {
      raises(ApiError.Gone.class, "too old", changes::next);
    }
  }

  private static void scale() throws Exception {
    create("scale");
    SETS.scale("scale", 1);
    again(
        () -> {
          V1Scale now = SETS.getScale("scale");
          now.getSpec().setReplicas(2);
          SETS.updateScale("scale", now);
        });
    equal(SETS.waitUntilReady("scale", LIMIT).getStatus().getReadyReplicas(), 2);
  }

  private static void plan() {
    create("plan");
    V1Scale proposed = new V1Scale().apiVersion("autoscaling/v1").kind("Scale").metadata(new V1ObjectMeta().name("plan")).spec(new V1ScaleSpec().replicas(3));
    equal(SETS.plan("plan", proposed).getRounds().size() >= 3, true);
    equal(SETS.get("plan").getSpec().getReplicas(), 0);
    SETS.plan("plan");
  }

  private static void conflict() throws Exception {
    create("ssa");
    SETS.apply("ssa", Map.of("spec", Map.of("minReadySeconds", 1)), "one", false);
    Map<String, ?> other = Map.of("spec", Map.of("minReadySeconds", 2));
    ApiError.Conflict error = raises(ApiError.Conflict.class, "one", () -> SETS.apply("ssa", other, "two", false));
    equal(error.causes().get(0).getField(), ".spec.minReadySeconds");
    equal(SETS.apply("ssa", other, "two", true).getSpec().getMinReadySeconds(), 2);
  }

  private static void intOrString() {
    Map.of("number", IntOrString.of(2), "share", IntOrString.of("25%"))
        .forEach(
            (name, value) -> {
              V1StatefulSet wanted = set(name);
              wanted.getSpec().setUpdateStrategy(
                  new V1StatefulSetUpdateStrategy().type("RollingUpdate").rollingUpdate(new V1RollingUpdateStatefulSetStrategy().maxUnavailable(value)));
              equal(SETS.create(wanted).getSpec().getUpdateStrategy().getRollingUpdate().getMaxUnavailable(), value);
            });
  }

  private static void quantity() {
    Map<String, Quantity> requests = Map.of("cpu", Quantity.of("250m"), "memory", Quantity.of("1536Mi"), "ephemeral-storage", Quantity.of("1e3"));
    V1StatefulSet wanted = set("quantity");
    wanted.getSpec().getTemplate().getSpec().getContainers().get(0).setResources(new V1ResourceRequirements().requests(requests));
    equal(SETS.create(wanted).getSpec().getTemplate().getSpec().getContainers().get(0).getResources().getRequests(), requests);
  }

  private static void stale() throws Exception {
    V1StatefulSet old = create("stale");
    raises(ApiError.AlreadyExists.class, "stale", () -> create("stale"));
    SETS.patchMerge("stale", annotation("a", "b"));
    raises(ApiError.Conflict.class, "stale", () -> SETS.update(old));
  }

  private static Map<String, Play> scenarios() {
    Map<String, Play> all = new LinkedHashMap<>();
    all.put("CRUD", Scenarios::crud);
    all.put("pages", Scenarios::pages);
    all.put("watch", Scenarios::watched);
    all.put("resume", () -> resumed("cut", LIMIT));
    all.put("410", Scenarios::expired);
    all.put("scale", Scenarios::scale);
    all.put("/plan", Scenarios::plan);
    all.put("SSA conflict", Scenarios::conflict);
    all.put("IntOrString", Scenarios::intOrString);
    all.put("Quantity", Scenarios::quantity);
    all.put("403", () -> raises(ApiError.Forbidden.class, "forbidden", () -> CLIENT.statefulSets("default").list(Map.of())));
    all.put("404", () -> raises(ApiError.NotFound.class, "nobody", () -> SETS.get("nobody")));
    all.put("409", Scenarios::stale);
    all.put("429", Refusals::throttled);
    all.put("bad input", Refusals::badInput);
    all.put("silence", () -> resumed("silent", Duration.ofSeconds(2)));
    all.put("unknown", Refusals::unknown);
    return all;
  }

  public static void main(String[] args) {
    boolean failed = false;
    for (Map.Entry<String, Play> scenario : scenarios().entrySet()) {
      Map<String, String> line = new LinkedHashMap<>(Map.of("scenario", scenario.getKey()));
      try {
        scenario.getValue().run();
      } catch (Exception | AssertionError e) {
        StringWriter trace = new StringWriter();
        e.printStackTrace(new PrintWriter(trace));
        line.put("error", trace.toString());
        failed = true;
      }
      System.out.println(Json.text(line));
    }
    System.exit(failed ? 1 : 0);
  }
}
