// What the page does without the server: keep the address, switch the theme, save pictures, unfold groups.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
  explorer: {
    // A view has been drawn: put its state into the address and into the links of the view.
    keep: function (kept) {
      const [, ...links] = dash_clientside.callback_context.outputs_list;
      const query = kept.includes("?") ? kept.slice(kept.indexOf("?")) : "";
      const path = kept.slice(0, kept.length - query.length);
      if (location.pathname === path || location.pathname === "/") {
        history.replaceState(history.state, "", kept);
      }
      const downloads = links.map(function (link) {
        const [view, ...panel] = link.id.replace(/-csv$/, "").split("-");
        return `/data/${view}/${panel.join("-")}.csv${query}`;
      });
      return [kept, ...downloads];
    },

    // Mark the link of the view that is shown.
    mark: function (path) {
      const current = (path || "/").replace(/\/$/, "") || "/theory";
      for (const link of document.querySelectorAll("nav a")) {
        if (link.pathname === current) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
      return current;
    },

    // Light or dark: as the system has it until the switch is used.
    theme: function (clicks) {
      let theme = localStorage.getItem("theme");
      if (!theme) theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
      if (clicks) {
        theme = theme === "dark" ? "light" : "dark";
        localStorage.setItem("theme", theme);
      }
      document.documentElement.dataset.theme = theme;
      return theme;
    },
  },
});

function save(button) {
  const plot = document.querySelector(`#${button.dataset.picture} .js-plotly-plot`);
  const size = { width: plot.clientWidth, height: plot.clientHeight, scale: 2 };
  const name = { format: button.dataset.format, filename: `daybreak-${button.dataset.picture}` };
  Plotly.downloadImage(plot, { ...size, ...name });
}

function press(button) {
  const { press, what, which } = button.dataset;
  dash_clientside.set_props(press, { data: { what, which, when: Date.now() } });
}

// Unfold one group, such as the claims of a figure, and go there.
function show(button) {
  const group = document.getElementById(button.dataset.show);
  group.open = true;
  group.scrollIntoView({ block: "start" });
  group.querySelector("summary").focus({ preventScroll: true });
}

function fold(button) {
  for (const group of document.querySelectorAll("details.group")) group.open = button.dataset.fold === "open";
}

// On a phone the first picture stays in sight next to the controls; further down it would cover the other pictures.
document.addEventListener("scroll", function () {
  const view = document.querySelector("main.view"), first = view?.querySelector(".panel");
  if (!first) return;
  const end = view.querySelector("aside").getBoundingClientRect().bottom;
  view.toggleAttribute("data-past", end < first.offsetHeight);
}, { passive: true });

// A late slider takes effect when it rests: until then nobody hears of its moves. Dash's own delay is for text only.
let resting;
function wait(event) {
  if (!event.isTrusted || !event.target.closest(".late")) return;
  event.stopPropagation();
  clearTimeout(resting);
  resting = setTimeout(() => event.target.dispatchEvent(new Event("input", { bubbles: true })), 250);
}
document.addEventListener("input", wait, true);
document.addEventListener("change", wait, true);

document.addEventListener("click", function (event) {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.picture) save(button);
  if (button.dataset.press) press(button);
  if (button.dataset.show) show(button);
  if (button.dataset.fold) fold(button);
});
