// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/** Publishes changes, from a connection of its own to each subscriber, as fast as that one asks for them. */
final class ChangePublisher implements Flow.Publisher<Change> {
  private final Supplier<Changes> open;

  ChangePublisher(Supplier<Changes> open) {
    this.open = open;
  }

  @Override
  public void subscribe(Flow.Subscriber<? super Change> subscriber) {
    Changes changes = open.get();
    Semaphore asked = new Semaphore(0);
    subscriber.onSubscribe(
        new Flow.Subscription() {
          @Override
          public void request(long n) {
            asked.release((int) Math.min(n, Integer.MAX_VALUE - (long) asked.availablePermits()));
          }

          @Override
          public void cancel() {
            changes.close();
            asked.release();
          }
        });
    Thread thread = new Thread(() -> publish(changes, asked, subscriber), "statefulset-watch");
    thread.setDaemon(true);
    thread.start();
  }

  private static void publish(Changes changes, Semaphore asked, Flow.Subscriber<? super Change> subscriber) {
    try (changes) {
      for (asked.acquire(); changes.hasNext(); asked.acquire()) {
        subscriber.onNext(changes.next());
      }
      subscriber.onComplete();
    } catch (Exception e) {
      subscriber.onError(e);
    }
  }
}
