// Words about the recording: its figures, where they come from, and everything that is not shown in full.

function showFigures(recording) {
  const { about } = recording;
  const { totals, origin } = about;
  const name = about.name.split('/').pop() || about.name;
  document.title = `${name} – memory history`;
  byId('name').textContent = name;
  byId('name').title = about.name;
  const kinds = {
    replay: 'Replayed through the allocator on a simulated device',
    own: `Snapshot of this allocator, device ${origin.device}`,
    pytorch: `Snapshot of PyTorch’s caching allocator, device ${origin.device}`,
  };
  byId('origin').textContent = [kinds[origin.kind], `${plural(totals.events, 'event', 'events')}`,
    recording.hasTimes ? duration(recording.timeOf(recording.last)) : null,
    about.device_total ? `device memory ${size(about.device_total)}` : null].filter(Boolean).join(' · ');
  const card = (name, bytes, colour) => element('div', { class: 'card' },
    element('span', { class: 'key' }, colour ? swatch(`var(${colour})`) : null, name), element('b', {}, bytes));
  byId('cards').replaceChildren(
    card('Peak reserved', size(totals.reserved_peak), '--reserved'),
    card('Peak allocated', size(totals.allocated_peak), '--allocated'),
    card('Peak active', size(totals.active_peak), '--active'),
    card('Reserved at the end', size(totals.reserved)),
    card('Allocated at the end', size(totals.allocated)),
    card('Allocations', count(about.n_allocations)),
    card('Out of memory', totals.num_ooms ? plural(totals.num_ooms, 'error', 'errors') : 'no'),
  );
  const alert = byId('oom');
  alert.hidden = about.ooms.length === 0;
  alert.replaceChildren(...about.ooms.slice(0, 3).map(([event, bytes, free, message]) => `Event ${count(event)}: `
    + (message || `a request of ${size(bytes)} failed${free === null ? '' : ` with ${size(free)} of the device free`}`)).map((line) => element('div', {}, line)));
}

function showNotes(recording) {
  const { about } = recording;
  const { origin, n_allocations: all, n_embedded: embedded } = about;
  const notes = [];
  const add = (title, text) => notes.push(element('li', {}, element('b', {}, `${title}. `), text));
  const tile = recording.tile;
  add('Timeline', tile === 1 ? 'Every event has its own point.'
    : `${count(tile)} events make a point, which keeps the smallest and the largest sum of them: no peak is lost. Where not every block of a moment is on this page, its sums read “≤”. The figures on top are exact.`);
  if (embedded === all) add('Allocations', `All ${count(all)} are on this page one by one.`);
  else {
    add('Allocations', `${count(embedded)} of ${count(all)} are on this page one by one: all that live at ${plural(about.whole_moments.length, 'chosen moment', 'chosen moments')} (the peak and the end among them), then the largest. `
      + `The other ${count(all - embedded)} have at most ${size(about.largest_left_out)} each and appear as a sum only. The table at the peak counts all of them; map, filter, search and the table at other moments know those on the page.`);
  }
  if (origin.kind === 'replay') {
    add('Source', `The input was replayed through this allocator on a simulated device, configuration ${origin.config_hash}: the sums are the allocator’s own, ${plural(origin.segments_allocated, 'segment', 'segments')} taken, ${count(origin.segments_released)} given back, ${plural(origin.n_retries, 'retry', 'retries')}.`);
    if (!recording.hasTimes) add('Time', 'A trace has an order but no times, so there is no time axis.');
  } else {
    add('Source', 'Nothing was replayed: segments and blocks lie where the snapshot says.');
    if (origin.n_inferred > 0) {
      add('Block sizes', `A snapshot says the block size only of what is live at its end. Those of ${plural(origin.n_inferred, 'other allocation', 'other allocations')} follow from the ${origin.kind === 'own' ? 'recorded configuration' : 'rules of PyTorch’s allocator'}.`);
    }
  }
  if (about.n_dropped) add('History', `The recorder’s ring had lost ${count(about.n_dropped)} older entries; blocks from before stand at event 0.`);
  if (about.n_skipped) add('Skipped', `${plural(about.n_skipped, 'wrong line was', 'wrong lines were')} left out.`);
  if (about.n_marks > about.marks.length) add('Marks', `The first ${count(about.marks.length)} of ${count(about.n_marks)} are here.`);
  if (about.n_cut_texts) add('Texts', `${plural(about.n_cut_texts, 'overlong text was', 'overlong texts were')} cut and say so.`);
  if (about.sites.n_cut_stacks) add('Stacks', `Of ${plural(about.sites.n_cut_stacks, 'stack', 'stacks')} only the innermost 100 frames are here.`);
  if (about.sites.stacks.length && about.sites.stacks.every((stack) => stack.length === 0)) {
    add('Stacks', 'The input has none; a phase of the program, from its marks, stands in for them.');
  }
  byId('notes').replaceChildren(...notes);
  byId('footer').textContent = `neuronx-mem ${about.version} · this file is complete and asks for nothing from a network · plots by uPlot (MIT licence, in the source of this page)`;
}

function showMoment(recording) {
  const { event } = state;
  const sums = recording.sumsAt(event);
  const upTo = sums.isExact ? '' : '≤ ';
  const parts = [`Event ${count(event)} of ${count(recording.last)}`];
  const text = recording.eventText(event);
  if (text) parts.push(text);
  if (recording.hasTimes) parts.push(`${duration(recording.timeOf(event))} from the start`);
  parts.push(`reserved ${upTo}${size(sums.reserved)}, allocated ${upTo}${size(sums.allocated)}, active ${upTo}${size(sums.active)}`);
  byId('moment-text').textContent = parts.join(' · ');
  const slider = byId('moment');
  if (Number(slider.value) !== event) slider.value = String(event);
  slider.setAttribute('aria-valuetext', `event ${event}`);
}
