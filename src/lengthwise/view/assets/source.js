"use strict";
// Where the page's data come from: the server that wrote it, or, in a static copy, scripts next to it.
// A page that is opened from the file system may not fetch, but it may load its own scripts.
const lengthwiseSource = (() => {
  const load = (address) => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error(`${address} could not be loaded`)));
    document.head.append(script);
  });

  let vega = null;
  const figures = () => (vega ??= load("vega.js"));

  const get = async (address) => {
    const answer = await fetch(address, { cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" });
    if (!answer.ok) throw Object.assign(new Error(await answer.text()), { status: answer.status });
    return answer.json();
  };
  const served = {
    isLive: true,
    figures,
    // `journals` are [run, turn, entries known]; the answer holds what is new in them.
    changes: (cursor, journals) => {
      const asked = journals.map((one) => one.join("-")).join(",");
      return get(`api/changes?cursor=${encodeURIComponent(cursor)}&journals=${asked}`);
    },
    run: (id) => get(`api/runs/${id}`),
    record: (id, slug) => get(`api/runs/${id}/records/${encodeURIComponent(slug)}`),
  };

  const copy = window.lengthwiseBundle;
  const whole = async (id) => {
    if (!copy.runs[id]) await load(`data/run-${id}.js`);
    return copy.runs[id];
  };
  const bundled = {
    isLive: false,
    figures,
    changes: async () => copy.snapshot,
    run: async (id) => (await whole(id)).run,
    record: async (id, slug) => (await whole(id)).records[slug],
  };

  return document.body.dataset.bundled === "yes" ? bundled : served;
})();
