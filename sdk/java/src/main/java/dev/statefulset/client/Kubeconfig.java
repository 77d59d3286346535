// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** Reads the way to a cluster where kubectl reads it. */
final class Kubeconfig {
  private static final Path POD = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");

  private final Path directory;
  private final JsonNode content;

  private Kubeconfig(Path file) {
    try {
      directory = file.toAbsolutePath().getParent();
      content = Json.MAPPER.valueToTree(new Yaml(new SafeConstructor(new LoaderOptions())).load(Files.readString(file)));
    } catch (IOException | RuntimeException e) {
      throw new RefusedLocally("kubeconfig: " + file, e);
    }
  }

  static Cluster find() {
    String variable = System.getenv("KUBECONFIG");
    if (variable != null && !variable.isEmpty()) {
      if (variable.contains(File.pathSeparator)) {
        throw new RefusedLocally("kubeconfig: KUBECONFIG names several files, want one");
      }
      return read(Path.of(variable), null);
    }
    if (Files.exists(POD.resolve("token")) && System.getenv("KUBERNETES_SERVICE_HOST") != null) {
      return inPod();
    }
    return read(Path.of(System.getProperty("user.home"), ".kube", "config"), null);
  }

  private static Cluster inPod() {
    String host = System.getenv("KUBERNETES_SERVICE_HOST");
    String server = "https://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + System.getenv("KUBERNETES_SERVICE_PORT");
    String namespace = new String(bytes(POD.resolve("namespace")), StandardCharsets.UTF_8).strip();
    return new Cluster(server, namespace, bytes(POD.resolve("ca.crt")), null, null, fromFile(POD.resolve("token")));
  }

  static Cluster read(Path file, String context) {
    Kubeconfig config = new Kubeconfig(file);
    JsonNode chosen = config.named("contexts", "context", context == null ? config.content.path("current-context").asText() : context);
    JsonNode cluster = config.named("clusters", "cluster", chosen.path("cluster").asText());
    JsonNode user = config.named("users", "user", chosen.path("user").asText());
    for (String option : List.of("insecure-skip-tls-verify", "tls-server-name", "proxy-url")) {
      if (cluster.hasNonNull(option) && !cluster.path(option).asText().matches("false|")) {
        throw new RefusedLocally("kubeconfig: " + option + " is not supported by this client");
      }
    }
    return new Cluster(
        cluster.path("server").asText(),
        chosen.path("namespace").asText("default"),
        config.data(cluster, "certificate-authority"),
        config.data(user, "client-certificate"),
        config.data(user, "client-key"),
        config.token(user));
  }

  private JsonNode named(String list, String part, String name) {
    for (JsonNode entry : content.path(list)) {
      if (entry.path("name").asText().equals(name)) {
        return entry.path(part);
      }
    }
    throw new RefusedLocally("kubeconfig: there is no " + part + " \"" + name + "\"");
  }

  /** What is in the field of that name with -data, or else in the file that the field names. */
  private byte[] data(JsonNode node, String field) {
    if (node.hasNonNull(field + "-data")) {
      try {
        return Base64.getMimeDecoder().decode(node.path(field + "-data").asText());
      } catch (IllegalArgumentException e) {
        throw new RefusedLocally("kubeconfig: " + field + "-data", e);
      }
    }
    return node.hasNonNull(field) ? bytes(directory.resolve(node.path(field).asText())) : null;
  }

  private Supplier<String> token(JsonNode user) {
    if (user.hasNonNull("exec")) {
      return new Plugin(directory, user.path("exec"));
    }
    if (user.hasNonNull("token")) {
      return () -> user.path("token").asText();
    }
    return user.hasNonNull("tokenFile") ? fromFile(directory.resolve(user.path("tokenFile").asText())) : null;
  }

  /** Tokens in files are renewed there. */
  private static Supplier<String> fromFile(Path file) {
    return () -> new String(bytes(file), StandardCharsets.UTF_8).strip();
  }

  private static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new RefusedLocally("reading " + file, e);
    }
  }

  /** A program that prints a token, which is kept until it expires. */
  private static final class Plugin implements Supplier<String> {
    private static final long PATIENCE_SECONDS = 60;
    private final Path directory;
    private final JsonNode exec;
    private String token;
    private Instant expires = Instant.MIN;

    Plugin(Path directory, JsonNode exec) {
      this.directory = directory;
      this.exec = exec;
    }

    @Override
    public synchronized String get() {
      if (Instant.now().isBefore(expires)) {
        return token;
      }
      JsonNode status = run().path("status");
      if (!status.hasNonNull("token")) {
        throw new RefusedLocally("token: " + exec.path("command").asText() + " printed none");
      }
      token = status.path("token").asText();
      expires = status.hasNonNull("expirationTimestamp") ? Instant.parse(status.path("expirationTimestamp").asText()) : Instant.MAX;
      return token;
    }

    private JsonNode run() {
      List<String> command = new ArrayList<>();
      String program = exec.path("command").asText();
      command.add(program.contains("/") ? directory.resolve(program).toString() : program);
      exec.path("args").forEach(argument -> command.add(argument.asText()));
      ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
      exec.path("env").forEach(entry -> builder.environment().put(entry.path("name").asText(), entry.path("value").asText()));
      Map<String, ?> info = Map.of("apiVersion", exec.path("apiVersion").asText(), "kind", "ExecCredential", "spec", Map.of("interactive", false));
      builder.environment().put("KUBERNETES_EXEC_INFO", Json.text(info));
      try {
        Process process = builder.start();
        process.getOutputStream().close();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
          process.destroyForcibly();
          throw new RefusedLocally("token: " + program + " has failed");
        }
        return Json.MAPPER.readTree(printed);
      } catch (IOException e) {
        throw new RefusedLocally("token: " + program, e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new RefusedLocally("token: " + program, e);
      }
    }
  }
}
