// The keyboard, and the buttons that do the same. Knows where the interesting moments are.

const go = {
  to(event) {
    const { last } = timeline.recording;
    const at = Math.min(last, Math.max(0, event));
    const [from, to] = state.range;
    if (at < from || at > to) zoom(at - (to - from) / 2, at + (to - from) / 2);
    change({ event: at });
  },
  by(step) { this.to(state.event + step); },
  peak() { this.to(timeline.recording.about.totals.peak_event); },
  oom() {
    const events = timeline.recording.about.ooms.map(([event]) => event);
    if (events.length) this.to(events.find((event) => event > state.event) ?? events[0]);
  },
  whole() {
    const far = (event) => Math.abs(event - state.event);
    this.to(timeline.recording.about.whole_moments.reduce((a, b) => (far(b) < far(a) ? b : a)));
  },
  mark(direction) {
    const events = timeline.recording.about.marks.map(([event]) => event);
    const next = direction > 0 ? events.find((event) => event > state.event) : events.findLast((event) => event < state.event);
    if (next !== undefined) this.to(next);
  },
};

function startKeys() {
  const acts = {
    ArrowLeft: (key) => go.by(key.shiftKey ? -100 : -1), ArrowRight: (key) => go.by(key.shiftKey ? 100 : 1),
    Home: () => go.to(0), End: () => go.to(timeline.recording.last),
    p: () => go.peak(), o: () => go.oom(), '[': () => go.mark(-1), ']': () => go.mark(1),
    '+': () => zoomBy(0.5), '=': () => zoomBy(0.5), '-': () => zoomBy(2), 0: () => zoom(0, timeline.recording.last),
    t: () => switchTheme(), '?': () => byId('help').showModal(), '/': () => byId('search').focus(),
    Escape: () => change({ pinned: -1, hovered: -1 }),
  };
  document.addEventListener('keydown', (key) => {
    const isTyping = key.target.closest('input:not([type="range"]), select, dialog');
    if (isTyping || key.ctrlKey || key.metaKey || key.altKey || !(key.key in acts)) return;
    key.preventDefault();
    acts[key.key](key);
  });
  const click = (id, act) => byId(id).addEventListener('click', act);
  click('to-peak', () => go.peak());
  click('to-oom', () => go.oom());
  click('to-whole', () => go.whole());
  click('step-back', () => go.by(-1));
  click('step-on', () => go.by(1));
  click('zoom-in', () => zoomBy(0.5));
  click('zoom-out', () => zoomBy(2));
  click('zoom-all', () => zoom(0, timeline.recording.last));
  click('show-help', () => byId('help').showModal());
  click('theme', () => switchTheme());
  click('axis-event', () => change({ axis: 'event' }));
  click('axis-time', () => change({ axis: 'time' }));
  byId('moment').addEventListener('input', () => go.to(Number(byId('moment').value)));
}

function switchTheme(theme = state.theme === 'dark' ? 'light' : 'dark') {
  document.documentElement.dataset.theme = theme;
  byId('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
  change({ theme });
}
