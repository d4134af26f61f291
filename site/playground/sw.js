// Keeps every file of the playground, so that it opens without a network, and refuses all others.
// The builder writes FILES and NAME.
const NAME = "@NAME@";
const FILES = "@FILES@";

self.addEventListener("install", (event) =>
  event.waitUntil(
    caches
      .open(NAME)
      .then((cache) => cache.addAll(FILES))
      .then(() => self.skipWaiting()),
  ),
);
self.addEventListener("activate", (event) =>
  event.waitUntil(
    caches
      .keys()
      .then((names) =>
        Promise.all(
          names
            .filter((name) => name.startsWith("playground-") && name !== NAME)
            .map((name) => caches.delete(name)),
        ),
      )
      .then(() => self.clients.claim()),
  ),
);
self.addEventListener("fetch", (event) => {
  if (new URL(event.request.url).origin !== location.origin) {
    event.respondWith(Response.error());
    return;
  }
  event.respondWith(
    caches
      .match(event.request, { ignoreSearch: true, cacheName: NAME })
      .then((kept) => kept ?? fetch(event.request)),
  );
});
