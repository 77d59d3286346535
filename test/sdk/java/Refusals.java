// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import dev.statefulset.client.ApiError;
import dev.statefulset.client.Client;
import dev.statefulset.client.Cluster;
import dev.statefulset.client.PatchKind;
import dev.statefulset.client.RefusedLocally;
import dev.statefulset.client.StatefulSets;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** What the client refuses, and what it leaves as it is. */
final class Refusals {
  private Refusals() {}

  static void throttled() throws Exception {
    Scenarios.create("throttled");
    for (int turn = 0; turn < 2; turn++) {
      ApiError.TooManyRequests error = Scenarios.raises(ApiError.TooManyRequests.class, "too many", () -> Scenarios.SETS.get("throttled"));
      Scenarios.equal(error.retryAfterSeconds().orElse(-1), 1);
      Thread.sleep(1000L * error.retryAfterSeconds().orElseThrow());
    }
    Scenarios.equal(Scenarios.SETS.get("throttled").getMetadata().getName(), "throttled");
  }

  /** What has to be refused before anything is sent, or with the reason. */
  static void badInput() throws Exception {
    byte[] none = "none".getBytes(StandardCharsets.UTF_8);
    String good = "https://127.0.0.1:1";
    new Cluster(good, "default", null, null, null, () -> "good");
    Scenarios.raises(RefusedLocally.class, "host", () -> new Cluster("ftp://example.org", "default", null, null, null, null));
    Scenarios.raises(RefusedLocally.class, "host", () -> new Cluster("no address", "default", null, null, null, null));
    Scenarios.raises(RefusedLocally.class, "token", () -> new Cluster(good, "default", null, null, null, () -> "two words"));
    Scenarios.raises(RefusedLocally.class, "certificate authority", () -> new Cluster(good, "default", none, null, null, null));
    Scenarios.raises(RefusedLocally.class, "client certificate", () -> new Cluster(good, "default", null, none, none, null));
    Scenarios.raises(RefusedLocally.class, "kubeconfig", () -> Client.connect(Path.of("/does/not/exist"), null));
    Scenarios.raises(RefusedLocally.class, "patch kind", () -> PatchKind.of("toml"));
    Scenarios.raises(RefusedLocally.class, "list of operations", () -> Scenarios.SETS.patch(PatchKind.JSON, "a", Map.of(), null));
    Scenarios.raises(RefusedLocally.class, "an object", () -> Scenarios.SETS.patch(PatchKind.MERGE, "a", List.of(), null));
    Scenarios.raises(RefusedLocally.class, "field manager", () -> Scenarios.SETS.patch(PatchKind.APPLY, "a", Map.of(), null));
    Scenarios.raises(ApiError.Unauthorized.class, "", wrong("WRONG_TOKEN"));
    Scenarios.raises(UncheckedIOException.class, "", wrong("WRONG_HOST"));
    Scenarios.raises(UncheckedIOException.class, "certificat", wrong("WRONG_AUTHORITY"));
  }

  private static Scenarios.Play wrong(String variable) {
    return () -> Client.connect(Path.of(System.getenv(variable)), null).statefulSets().list(Map.of());
  }

  /** A later version's fields and values survive being read and written. */
  static void unknown() throws Exception {
    ObjectMapper mapper = new ObjectMapper();
    String future =
        "{\"apiVersion\":\"apps.statefulset.dev/v1\",\"kind\":\"StatefulSet\",\"later\":{\"a\":[1]},"
            + "\"metadata\":{\"name\":\"future\",\"creationTimestamp\":\"2026-01-02T03:04:05Z\"},"
            + "\"spec\":{\"laterToo\":1,\"podManagementPolicy\":\"Later\",\"selector\":{},\"serviceName\":\"\",\"template\":{\"spec\":{"
            + "\"containers\":[],\"volumes\":[{\"name\":\"v\",\"emptyDir\":{},\"later\":1.50}]}}}}";
    StringBuilder sent = new StringBuilder();
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext(
        "/",
        exchange -> {
          sent.append(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          byte[] answer = future.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
    Cluster cluster = new Cluster("http://127.0.0.1:" + server.getAddress().getPort(), "default", null, null, null, null);
    StatefulSets there = Client.connect(cluster).statefulSets();
    there.update(there.get("future"));
    server.stop(0);
    Scenarios.equal(mapper.readTree(sent.toString()), mapper.readTree(future));
  }
}
