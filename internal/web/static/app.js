// What the pages can't do without script: they keep themselves up to date, send forms without being loaded again, and have keys.
// Everything that it shows was rendered by the server, with what others wrote escaped there.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const body = document.body;

  // --- ages

  const age = (ms) => {
    const s = Math.floor(ms / 1000);
    if (s < 1) return "";
    if (s < 60) return s + " s";
    if (s < 3600) return Math.floor(s / 60) + " min";
    if (s < 48 * 3600) return Math.floor(s / 3600) + " h";
    return Math.floor(s / 86400) + " d";
  };
  // The database's clock counts: the page says what time it was there when it came.
  const ahead = Date.now() - Date.parse(body.dataset.now);
  const ages = () => {
    for (const t of document.querySelectorAll("time[data-age]")) {
      const at = Date.parse(t.dateTime), text = age(Math.abs(Date.now() - ahead - at));
      const says = t.dataset.age === "in" ? "in " + text : t.dataset.age === "ago" ? (text ? text + " ago" : "just now") : text || "just now";
      if (text && t.textContent !== says) t.textContent = says;
    }
  };
  setInterval(ages, 15000);

  // --- what somebody is doing on the page stays as it is when a part is swapped

  const named = (el) => el.id ? "#" + CSS.escape(el.id) : [el.tagName, el.name, el.getAttribute("href"), el.getAttribute("aria-label"), el.dataset.key, el.closest("form") && el.closest("form").getAttribute("action"), el.textContent.slice(0, 40)].join("|");
  const controls = (root) => [...root.querySelectorAll("a, button, input:not([type=hidden]), select, textarea, summary, [tabindex]")];
  const keep = (root) => {
    const active = root.contains(document.activeElement) ? document.activeElement : null;
    const same = active ? controls(root).filter((c) => named(c) === named(active)) : [];
    return {
      focus: active && { name: named(active), nth: same.indexOf(active), from: active.selectionStart, to: active.selectionEnd },
      typed: controls(root).filter((c) => c.matches("input, textarea, select") && c.value !== c.defaultValue).map((c) => [named(c), c.value]),
      opened: [...root.querySelectorAll("details[open]")].map((d) => d.closest("[id]").id + "/" + d.firstElementChild.textContent),
      scrolled: [...root.querySelectorAll(".text, .scroll, .output, .tail")].map((e) => [e.scrollTop, e.scrollLeft]),
    };
  };
  const restore = (root, was) => {
    for (const d of root.querySelectorAll("details")) {
      if (was.opened.includes(d.closest("[id]").id + "/" + d.firstElementChild.textContent)) d.open = true;
    }
    for (const [name, value] of was.typed) {
      const c = controls(root).find((c) => named(c) === name);
      if (c) c.value = value;
    }
    [...root.querySelectorAll(".text, .scroll, .output, .tail")].forEach((e, i) => { if (was.scrolled[i]) [e.scrollTop, e.scrollLeft] = was.scrolled[i]; });
    if (!was.focus) return;
    const c = controls(root).filter((c) => named(c) === was.focus.name)[Math.max(was.focus.nth, 0)];
    if (!c) return;
    c.focus({ preventScroll: true });
    if (was.focus.from != null && c.setSelectionRange) try { c.setSelectionRange(was.focus.from, was.focus.to); } catch { /* a kind of input without a selection */ }
  };
  const element = (html) => {
    const t = document.createElement("template");
    t.innerHTML = html;
    return t.content.firstElementChild;
  };
  const swap = (part) => {
    const old = $(part.id), now = element(part.html);
    if (!old || !now || old.isEqualNode(now)) return;
    const was = keep(old);
    old.replaceWith(now);
    restore(now, was);
    if (part.id === "menu") countNeeds(old, now);
    if (part.id === "needs") showThing(now.querySelector(`[data-item]:focus-within`) || itemOf(shown) || now.querySelector("[data-item]"));
  };

  // --- what needs the person is counted in the title, where it is read without the page being in front

  // --- triage: where there is room, the thing itself stands beside the list of what needs the person

  const thing = $("thing");
  let shown = "";
  const itemOf = (address) => [...document.querySelectorAll("#needs [data-item]")].find((i) => i.querySelector("a.open").href === address);
  const showThing = async (item) => {
    const address = item ? item.querySelector("a.open").href : "";
    if (!thing || address === shown || !matchMedia("(min-width: 75rem)").matches) return;
    shown = address;
    thing.hidden = !address;
    if (!address) return;
    try {
      const r = await fetch(address, { headers: { accept: "text/html" } });
      const page = new DOMParser().parseFromString(await r.text(), "text/html").getElementById("main");
      if (shown !== address || !page) return; // another one is selected meanwhile
      // Its links are relative to its own page, those of its templates, too.
      for (const part of [page, ...[...page.querySelectorAll("template")].map((t) => t.content)]) {
        for (const name of ["href", "action"]) {
          for (const el of part.querySelectorAll(`[${name}]`)) el.setAttribute(name, new URL(el.getAttribute(name), address).href);
        }
        for (const back of part.querySelectorAll("[name=back]")) back.value = "/needs";
      }
      thing.replaceChildren(...[...page.childNodes].map((n) => document.adoptNode(n)));
      thing.scrollTop = 0;
      ages();
    } catch { shown = ""; }
  };
  if (thing) {
    document.addEventListener("focusin", (e) => { const item = e.target.closest("#needs [data-item]"); if (item) showThing(item); });
    showThing(document.querySelector("#needs [data-item]"));
  }

  const needsIn = (menu) => Number((menu.querySelector(".count.hot") || {}).textContent || 0);
  const countNeeds = (old, now) => {
    const n = needsIn(now), before = needsIn(old);
    document.title = (n ? "(" + n + ") " : "") + document.title.replace(/^\(\d+\) /, "");
    document.querySelector("link[rel=icon]").href = "/static/icon" + (n ? "-needs" : "") + ".svg";
    if (n > before && document.hidden && "Notification" in window && Notification.permission === "granted") {
      try { new Notification(n === 1 ? "One thing needs you" : n + " things need you", { body: now.dataset.need, tag: "needs" }); } catch { /* a phone takes them from workers alone */ }
    }
  };
  const asksLeave = $("notify");
  if (asksLeave && "Notification" in window && Notification.permission === "default") {
    asksLeave.parentElement.hidden = false;
    asksLeave.addEventListener("click", async () => {
      await Notification.requestPermission();
      asksLeave.parentElement.hidden = true;
    });
  }
  const addRow = (html) => {
    const list = $("timeline"), row = element(html);
    if (!list || !row || $(row.id)) return;
    row.classList.add("new");
    const top = list.getBoundingClientRect().top < 0 ? list.offsetHeight : 0;
    list.prepend(row);
    if (top) scrollBy(0, list.offsetHeight - top); // somebody reads further down
    else trimRows(list);
  };
  // A page that stays open for days doesn't grow: the oldest rows are on the further pages of the log.
  const mostRows = 120;
  const trimRows = (list) => {
    let trimmed = false;
    while (list.childElementCount > mostRows && !list.lastElementChild.contains(document.activeElement)) {
      list.lastElementChild.remove();
      trimmed = true;
    }
    const older = document.querySelector("#older a");
    if (!trimmed || !older) return;
    older.search = "?before=" + list.lastElementChild.dataset.seq;
    older.parentElement.hidden = false;
  };

  // The picture of the turns is drawn anew when something has happened in the room, and at most every two seconds.
  let drawing = null, undrawn = false;
  const draw = () => {
    if (!$("chart") || drawing) return;
    drawing = setTimeout(async () => {
      drawing = null;
      undrawn = !source || source.readyState !== EventSource.OPEN;
      if (undrawn) return; // who knows who answers
      try {
        const r = await fetch(location.pathname, { headers: { accept: "text/html" } });
        const now = r.ok && new DOMParser().parseFromString(await r.text(), "text/html").getElementById("chart");
        if (now && $("chart")) $("chart").replaceWith(document.adoptNode(now));
      } catch { /* the next change draws it */ }
    }, 2000);
  };

  // --- the stream

  let source = null, over = false, away = "", timer = 0, after = body.dataset.after || "0", at = body.dataset.at;
  let proof = { ask: body.dataset.ask, answer: body.dataset.answer };
  const open = () => {
    if (!body.dataset.live || source || over) return;
    source = new EventSource(body.dataset.root + "/live?" + new URLSearchParams({ page: body.dataset.live, at, after }));
    source.onopen = () => {
      away = "";
      $("link").hidden = true;
      body.dataset.linked = "yes";
      if (undrawn) draw();
    };
    source.onmessage = (e) => {
      const n = JSON.parse(e.data);
      if (n.over) { end(n.over); return; }
      if (n.proof) proof = n.proof;
      if (n.again) { location.reload(); return; }
      after = e.lastEventId || after;
      at = n.at;
      (n.parts || []).forEach(swap);
      (n.rows || []).forEach(addRow);
      if ((n.rows || []).length) draw();
      body.dataset.at = at;
      ages();
    };
    source.onerror = () => {
      const refused = source.readyState === EventSource.CLOSED;
      if (!refused) away = "the server can't be reached";
      close();
      again(refused);
    };
  };
  const again = (refused) => {
    $("link").hidden = false;
    clearTimeout(timer);
    timer = setTimeout(() => reopen(refused), 3000);
  };
  // When a server has ended, another program may listen on its port. Path and cookie of the session are only for the one that has made this page.
  const reopen = async (refused) => {
    if (!body.dataset.live || source || over || isUnseen()) return;
    try {
      const r = await fetch("/enter?" + new URLSearchParams({ ask: proof.ask }), { credentials: "omit" });
      if (await r.text() !== proof.answer) {
        away = stranger.message;
        end(stranger);
      } else if (refused) ask();
      else open();
    } catch { again(refused); }
  };
  const stranger = {
    message: "the server of this page has ended, and something else answers at its address",
    hint: "run tt serve, which prints an address that lets a browser in",
  };
  const close = () => {
    clearTimeout(timer);
    if (source) source.close();
    source = null;
  };
  // The same holds for what a person does on the page meanwhile. It would lead nowhere.
  for (const act of ["click", "submit"]) document.addEventListener(act, (e) => {
    const leads = act === "click" ? e.target.closest('a:not([href^="#"])') : e.target.method !== "dialog";
    if (!away || !leads) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    say(away, true);
  }, true);
  // A stream doesn't say why it was refused. The page itself does.
  const ask = async () => {
    try {
      const r = await fetch(location.pathname, { headers: { accept: "application/json" } });
      if (r.status === 401) { end(await r.json()); return; }
    } catch { /* nobody answers */ }
    open();
  };
  // The session is over, and the page stays as it is.
  const end = (answer) => {
    over = true;
    close();
    $("link").hidden = true;
    $("over").hidden = false;
    $("over").textContent = answer.message + ". What helps: " + answer.hint;
  };
  // A browser has few connections to one server. Of the pages that nobody sees one keeps its own, and counts in its title what needs somebody.
  let ticket = null, giveBack = null;
  const isUnseen = () => document.hidden && !giveBack;
  const waitUnseen = () => {
    close();
    if (!navigator.locks || ticket) return; // a server beyond this machine, without TLS
    ticket = new AbortController();
    navigator.locks.request("unseen", { signal: ticket.signal }, () => new Promise((done) => {
      giveBack = done;
      reopen();
    })).catch(() => { /* it is seen again */ });
  };
  const show = () => {
    if (giveBack) giveBack();
    else if (ticket) ticket.abort();
    ticket = giveBack = null;
    reopen();
  };
  document.addEventListener("visibilitychange", () => document.hidden ? waitUnseen() : show());
  addEventListener("pagehide", close);
  addEventListener("pageshow", (e) => { if (e.persisted) reopen(); });
  open();

  // --- forms that leave the page where it is

  let sayer = 0;
  const say = (text, bad) => {
    const s = $("said");
    s.textContent = text;
    s.classList.toggle("bad", !!bad);
    clearTimeout(sayer);
    sayer = setTimeout(() => { s.textContent = ""; }, bad ? 15000 : 4000);
  };
  // What the server answers; null after a failure, which the person reads.
  const send = async (form, button) => {
    try {
      const res = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, button)), headers: { Accept: "application/json" } });
      const answer = await res.json();
      if (res.ok) return answer;
      say(answer.message + (answer.hint ? ". " + answer.hint : ""), true);
    } catch { say("the server can't be reached", true); }
    return null;
  };
  const stay = (form, button, answer) => {
    say(form.dataset.else && answer.status !== "your_turn" ? form.dataset.else : (button && button.dataset.said) || form.dataset.said);
    form.reset();
    const d = form.closest("details");
    if (d) d.open = false;
    if (d && d.matches("#timeline .reply")) d.parentElement.remove(); // a row of the log doesn't come anew
    if (!body.dataset.live) location.reload();
  };
  document.addEventListener("submit", async (e) => {
    const form = e.target, button = e.submitter;
    if (button) button.setAttribute("aria-busy", "true");
    if (!form.matches("form[data-stay], form[data-comment]")) return;
    e.preventDefault();
    const answer = await send(form, button);
    if (button) button.removeAttribute("aria-busy");
    if (answer) (form.dataset.comment ? commented : stay)(form, button, answer);
  });

  // --- a review: comments are written where they stand, and the place in the diff isn't lost

  const files = [...document.querySelectorAll("details.file")];
  const boxes = [...document.querySelectorAll(".files input")];
  const countDrafts = () => {
    const n = document.querySelectorAll(".comment.draft").length, p = $("drafts");
    p.hidden = !n;
    p.textContent = n === 1 ? "1 draft goes with your decision" : n + " drafts go with your decision";
  };
  const writeComment = (link) => {
    const line = link.closest("tr"), q = new URL(link.href).searchParams;
    const form = $("commentform").content.firstElementChild.cloneNode(true), row = document.createElement("tr");
    form.elements.at.value = q.get("at");
    if (q.get("old")) form.elements.old.value = "true";
    else form.elements.old.remove();
    form.querySelector("bdi").textContent = q.get("at");
    row.className = "commentrow";
    row.append(...[0, 1, 2].map(() => document.createElement("td")));
    row.lastElementChild.append(form);
    line.after(row);
    setTimeout(() => form.elements.body.focus()); // or the Enter that opened it would be written into it
  };
  // The focus goes back to the line that a row of comments belongs to.
  const leaveRow = (row) => {
    let line = row;
    while (line && line.matches(".commentrow")) line = line.previousElementSibling;
    const link = line && line.querySelector(".n a");
    if (link) link.focus({ preventScroll: true });
  };
  const commented = (form, button, answer) => {
    const row = form.closest("tr");
    if (row) leaveRow(row);
    if (form.dataset.comment === "new") {
      const draft = $("draft").content.firstElementChild.cloneNode(true);
      draft.querySelector(".at").textContent = form.elements.at.value;
      draft.querySelector(".text").textContent = answer.comment.body;
      draft.querySelector("[name=delete]").value = answer.comment.comment_id;
      form.replaceWith(draft);
    } else if (form.dataset.comment === "delete") (row || form.closest(".comment")).remove();
    else {
      form.closest(".comment").classList.add("resolved");
      form.remove();
    }
    countDrafts();
  };
  document.addEventListener("click", (e) => {
    const link = e.target.closest(".diff .n a");
    if (link && $("commentform")) {
      e.preventDefault();
      writeComment(link);
    }
    const cancel = e.target.closest("[data-cancel]");
    if (cancel) {
      leaveRow(cancel.closest("tr"));
      cancel.closest("tr").remove();
    }
  });
  // What was viewed is known by sums, so that a file that has changed since is one to view again. Other pages of this address learn no names.
  const seen = new Set();
  try { JSON.parse(localStorage.getItem("viewed") || "[]").forEach((sum) => seen.add(sum)); } catch { /* a browser that keeps nothing */ }
  const showViewed = () => {
    boxes.forEach((b, i) => { b.hidden = false; b.checked = seen.has(files[i].dataset.sum); });
    if (boxes.length) $("viewed").textContent = boxes.filter((b) => b.checked).length + " viewed";
  };
  const view = (i, yes) => {
    const sum = files[i].dataset.sum;
    seen.delete(sum);
    if (yes) seen.add(sum);
    try { localStorage.setItem("viewed", JSON.stringify([...seen].slice(-2000))); } catch { /* then it holds for this page */ }
    files[i].open = !yes;
    showViewed();
  };
  boxes.forEach((b, i) => b.addEventListener("change", () => view(i, b.checked)));
  files.forEach((f) => { if (seen.has(f.dataset.sum) && !f.querySelector("form.form")) f.open = false; });
  showViewed();
  // The file that has the focus, or the one at the top of the window.
  const fileHere = () => {
    const i = files.indexOf(document.activeElement.closest("details.file"));
    return i >= 0 ? i : files.findLastIndex((f) => f.getBoundingClientRect().top < 150);
  };
  const goToFile = (i) => {
    const f = files[Math.max(0, Math.min(files.length - 1, i))];
    f.firstElementChild.focus({ preventScroll: true });
    f.scrollIntoView({ block: "start" });
  };
  const reviewKey = (key) => {
    if (!files.length) return false;
    const now = fileHere();
    if (key === "]") goToFile(now + 1);
    else if (key === "[") goToFile(now - 1);
    else if (key === "v") {
      const i = Math.max(now, 0);
      view(i, !boxes[i].checked);
      if (boxes[i].checked) goToFile(i + 1);
    } else return false;
    return true;
  };

  // --- keys

  const items = () => [...document.querySelectorAll("[data-item]")].filter((i) => i.offsetParent);
  const step = (by) => {
    const all = items();
    if (!all.length) return;
    const now = all.findIndex((i) => i.classList.contains("at"));
    const next = all[Math.max(0, Math.min(all.length - 1, now + by))] || all[0];
    all.forEach((i) => i.classList.toggle("at", i === next));
    const link = next.querySelector("a.open, a, button, [tabindex]") || next;
    if (link === next) next.tabIndex = -1;
    link.focus();
    next.scrollIntoView({ block: "nearest" });
  };
  const press = (key) => {
    const here = document.activeElement.closest("[data-item]") || document.querySelector("[data-item].at");
    const wanted = `[data-key="${key}"]`;
    // What is selected is meant, or the thing beside the list; never another item.
    const el = (here && here.querySelector(wanted)) || [...document.querySelectorAll(`main ${wanted}`)].find((e) => !here || !e.closest("[data-item]"));
    if (!el) return false;
    if (el.matches("textarea, input")) el.focus();
    else el.click();
    if (el.matches("summary")) { const t = el.parentElement.querySelector("textarea, input:not([type=hidden])"); if (t) t.focus(); }
    return true;
  };
  const change = (back) => {
    const links = [...document.querySelectorAll(".diff tr.hunk")].map((h) => { let r = h.nextElementSibling; while (r && !r.matches(".add, .del")) r = r.nextElementSibling; return r && r.querySelector("a"); }).filter(Boolean);
    const side = back ? Node.DOCUMENT_POSITION_PRECEDING : Node.DOCUMENT_POSITION_FOLLOWING;
    const beyond = links.filter((a) => a.offsetParent && document.activeElement.compareDocumentPosition(a) & side && a !== document.activeElement && document.activeElement !== body);
    const next = (back ? beyond.pop() : beyond[0]) || links[0];
    if (next) { next.focus(); next.scrollIntoView({ block: "center" }); }
  };
  const keys = $("keys");
  document.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && e.target.form) {
      e.preventDefault();
      e.target.form.requestSubmit(e.target.form.querySelector("button.main, button"));
      return;
    }
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select, dialog[open]")) {
      if (e.key === "Escape" && e.target.closest("input, textarea, select")) e.target.blur();
      return;
    }
    const go = document.querySelector(`[data-go="${CSS.escape(e.key)}"]`);
    if (e.key === "?") keys.showModal();
    else if (e.key === "j") step(1);
    else if (e.key === "k") step(-1);
    else if (e.key === "h") change();
    else if (e.key === "H") change(true);
    else if (reviewKey(e.key)) { /* done */ }
    else if (go) go.click();
    else if (!press(e.key)) return;
    e.preventDefault();
  });
  $("help").hidden = false;
  $("help").addEventListener("click", () => keys.showModal());
})();
