// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import com.fasterxml.jackson.databind.JsonNode;
import dev.statefulset.client.model.V1StatefulSet;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * All changes after a version. After a lost connection it reconnects, and continues after the last change that it returned.
 * It fails with ApiError.Gone if the version is too old; list again then. It ends when any thread closes it, or after its
 * time.
 */
public final class Changes implements Iterator<Change>, AutoCloseable {
  private static final ScheduledExecutorService WATCHDOG =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "statefulset-watchdog");
            thread.setDaemon(true);
            return thread;
          });

  private final Client client;
  private final String path;
  private final Map<String, String> query;
  private final Instant end;
  private String version;
  private BufferedReader lines;
  private Change following;
  private Duration silence = Duration.ofMinutes(5);
  private Future<?> alarm = CompletableFuture.completedFuture(null);
  private boolean connected;
  private int failures;
  private volatile InputStream body;
  private volatile boolean closed;

  Changes(Client client, String path, Map<String, String> query, String version, Duration limit) {
    this.client = client;
    this.path = path;
    this.query = new TreeMap<>(query);
    this.version = version;
    this.end = limit == null ? Instant.MAX : Instant.now().plus(limit);
  }

  /**
   * Reconnects after this time without a message. The default is five minutes. The server sends its version every minute.
   */
  public Changes silence(Duration given) {
    silence = given;
    return this;
  }

  @Override
  public boolean hasNext() {
    while (following == null && !over()) {
      try {
        following = read();
      } catch (IOException | ApiError e) {
        recover(e);
      }
    }
    return following != null;
  }

  @Override
  public Change next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the watch has ended");
    }
    Change change = following;
    following = null;
    return change;
  }

  @Override
  public void close() {
    closed = true;
    disconnect();
  }

  private boolean over() {
    return closed || !Instant.now().isBefore(end);
  }

  /** The next change, or null if only a version was sent. */
  private Change read() throws IOException {
    if (lines == null) {
      connect();
    }
    InputStream open = body;
    alarm = WATCHDOG.schedule(() -> close(open), silence.toMillis(), TimeUnit.MILLISECONDS);
    String line = lines.readLine();
    alarm.cancel(false);
    if (line == null) {
      throw new EOFException("the connection has ended");
    }
    JsonNode event = Json.MAPPER.readTree(line);
    JsonNode object = event.path("object");
    String type = event.path("type").asText();
    if (type.equals("ERROR")) {
      throw ApiError.of(object.path("code").asInt(500), object.toString(), null);
    }
    Change change = type.equals("BOOKMARK") ? null : new Change(type, Json.MAPPER.treeToValue(object, V1StatefulSet.class));
    version = object.path("metadata").path("resourceVersion").asText();
    failures = 0;
    return change;
  }

  private void connect() throws IOException {
    query.put("watch", "true");
    query.put("allowWatchBookmarks", "true");
    query.put("resourceVersion", version);
    if (!end.equals(Instant.MAX)) {
      query.put("timeoutSeconds", Long.toString(Math.max(1, Duration.between(Instant.now(), end).toSeconds())));
    }
    body = client.stream(path, query);
    connected = true;
    lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    if (closed) {
      disconnect();
    }
  }

  private void disconnect() {
    alarm.cancel(false);
    close(body);
    body = null;
    lines = null;
  }

  private static void close(InputStream open) {
    try {
      if (open != null) {
        open.close();
      }
    } catch (IOException e) {
      // It is not read any more.
    }
  }

  private void recover(Exception error) {
    disconnect();
    if (closed) {
      return;
    }
    if (error instanceof ApiError && (!connected || !((ApiError) error).passes())) {
      throw (ApiError) error;
    }
    if (!connected) {
      throw new UncheckedIOException("connecting: " + error.getMessage(), (IOException) error);
    }
    failures++;
    try {
      Thread.sleep(pause(error));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      closed = true;
    }
  }

  /** As long as the cluster says, and without its word longer from one failure to the next, up to half a minute. */
  private long pause(Exception error) {
    double own = Math.min(30_000, 200 * Math.pow(2, failures)) * ThreadLocalRandom.current().nextDouble(0.5, 1);
    int said = error instanceof ApiError ? ((ApiError) error).retryAfterSeconds().orElse(-1) : -1;
    return said >= 0 ? 1000L * said : (long) own;
  }
}
