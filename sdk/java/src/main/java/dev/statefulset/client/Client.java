// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;

/** A connection to a cluster. It can be used by many threads. */
public final class Client {
  private final Cluster cluster;
  private final HttpClient http;

  private Client(Cluster cluster) {
    this.cluster = cluster;
    HttpClient.Builder builder = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(30));
    if (cluster.tls() != null) {
      builder.sslContext(cluster.tls());
    }
    http = builder.build();
  }

  /** The cluster that kubectl would take, or in a pod the pod's own. Nothing is sent yet, unless a plugin does. */
  public static Client connect() {
    return new Client(Kubeconfig.find());
  }

  /** The cluster of a context of a kubeconfig, or of its current context if that is null. */
  public static Client connect(Path kubeconfig, String context) {
    return new Client(Kubeconfig.read(kubeconfig, context));
  }

  /** A cluster that is known already. */
  public static Client connect(Cluster cluster) {
    return new Client(cluster);
  }

  /** The namespace of the kubeconfig's context. */
  public String namespace() {
    return cluster.namespace();
  }

  /** The sets of that namespace. */
  public StatefulSets statefulSets() {
    return new StatefulSets(this, namespace());
  }

  /** The sets of a namespace. */
  public StatefulSets statefulSets(String namespace) {
    return new StatefulSets(this, namespace);
  }

  <T> T send(String method, String path, Map<String, String> query, String mediaType, Object body, Class<T> type) {
    HttpRequest.BodyPublisher publisher =
        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(Json.text(body));
    HttpRequest.Builder request = request(path, query).method(method, publisher).timeout(Duration.ofMinutes(2));
    HttpResponse<String> answer;
    try {
      answer = exchange(request.header("Content-Type", mediaType).build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(method + " " + path + ": " + e.getMessage(), e);
    }
    if (answer.statusCode() / 100 != 2) {
      throw ApiError.of(answer.statusCode(), answer.body(), answer.headers().firstValue("Retry-After").orElse(null));
    }
    return type == null ? null : Json.read(answer.body(), type);
  }

  InputStream stream(String path, Map<String, String> query) throws IOException {
    HttpResponse<InputStream> answer = exchange(request(path, query).GET().build(), HttpResponse.BodyHandlers.ofInputStream());
    if (answer.statusCode() != 200) {
      try (InputStream body = answer.body()) {
        String text = new String(body.readAllBytes(), StandardCharsets.UTF_8);
        throw ApiError.of(answer.statusCode(), text, answer.headers().firstValue("Retry-After").orElse(null));
      }
    }
    return answer.body();
  }

  private <T> HttpResponse<T> exchange(HttpRequest request, HttpResponse.BodyHandler<T> handler) throws IOException {
    try {
      return http.send(request, handler);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private HttpRequest.Builder request(String path, Map<String, String> query) {
    String given = query.entrySet().stream().map(e -> e.getKey() + "=" + escape(e.getValue())).collect(Collectors.joining("&"));
    URI address = URI.create(cluster.server() + path + (given.isEmpty() ? "" : "?" + given));
    HttpRequest.Builder request = HttpRequest.newBuilder(address).header("Accept", "application/json").header("User-Agent", "statefulset-client-java");
    String token = cluster.token();
    return token == null ? request : request.header("Authorization", "Bearer " + token);
  }

  static String escape(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
