// Puts the parts together once the content is unpacked. What goes wrong is said on the page.

async function main() {
  const prefers = matchMedia('(prefers-color-scheme: dark)');
  switchTheme(prefers.matches ? 'dark' : 'light');
  prefers.addEventListener('change', () => switchTheme(prefers.matches ? 'dark' : 'light'));
  const recording = new Recording(await unpack());
  state.range = [0, Math.max(1, recording.last)];
  state.event = recording.about.totals.peak_event;
  byId('moment').max = String(recording.last);
  byId('to-oom').hidden = recording.about.ooms.length === 0;
  byId('axis-time').disabled = !recording.hasTimes;
  byId('axis-time').title = recording.hasTimes ? 'Plot by time' : 'This input has no times';
  colours.start(recording);
  showFigures(recording);
  showNotes(recording);
  for (const part of [filter, timeline, lanes, map, details, stacks]) part.start(recording);
  startKeys();
  watch(['event'], () => { showMoment(recording); legend.show(recording, null); });
  watch(['axis'], () => {
    byId('axis-event').setAttribute('aria-pressed', String(state.axis === 'event'));
    byId('axis-time').setAttribute('aria-pressed', String(state.axis === 'time'));
  });
  new ResizeObserver(() => change({ size: true })).observe(byId('main'));
  showMoment(recording);
  await drawn();
  return recording;
}

/** For tests and for the console: the recording, the state, and what is drawn where. */
window.neuronxMem = {
  ready: main().catch((failure) => {
    byId('failure').hidden = false;
    byId('failure').textContent = `This page cannot be shown: ${failure.message}. It needs a browser of 2023 or later.`;
    throw failure;
  }),
  state, change, drawn, map, lanes, timeline, filter, search, go,
};
