"use strict";
(() => {
  // The page as it is now, in place of what was read before: the same address, so that what was filtered stays so.
  let isBusy = false;
  const renew = async () => {
    if (isBusy || document.hidden) { return; }
    isBusy = true;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin" });
      if (answer.status === 401) { location.reload(); return; }
      if (!answer.ok) { return; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of ["main", "footer"]) {
        const [now, next] = [document.querySelector(part), page.querySelector(part)];
        // Whoever fills in a form or reads a long one is not interrupted.
        const isInUse = now && now.contains(document.activeElement) && document.activeElement.closest("form");
        if (now && next && !isInUse) { now.replaceWith(document.adoptNode(next)); }
      }
      document.title = page.title;
    } catch {
      // It is tried again with the next change.
    } finally {
      isBusy = false;
    }
  };
  const stream = new EventSource("/events");
  stream.addEventListener("changed", renew);
  document.addEventListener("visibilitychange", renew);
  // What is old grows older also where nothing changes.
  setInterval(renew, 30000);
})();
