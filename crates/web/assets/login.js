"use strict";
const login = async () => {
  const say = (text) => { document.getElementById("state").textContent = text; };
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  history.replaceState(null, "", "/login");
  if (!token) {
    say("This address has no token. Use the whole address that sealion web printed.");
    return;
  }
  try {
    const answer = await fetch("/login", { method: "POST", body: token, credentials: "same-origin" });
    if (answer.ok) { location.replace("/"); return; }
    say(answer.status === 401
      ? "This token was used before, or it is of another start. Stop sealion web, start it again, and use the new address."
      : "The login was refused (" + answer.status + ").");
  } catch {
    say("sealion web does not answer. Is it still running?");
  }
};
// An address that is pasted into this very page only changes what stands behind #.
addEventListener("hashchange", () => { if (location.hash) { login(); } });
login();
