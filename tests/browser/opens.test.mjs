// Every trace and every snapshot of the test data opens: offline, without a word on the console, drawn,
// and with the figures of `replay --json` or of the file itself.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { browser, coloursOf, neuronx } from './support.mjs';

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

const inputs = (folder) => readdirSync(path.join('tests/data', folder)).sort().map((name) => `tests/data/${folder}/${name}`);

async function opened(input) {
  const file = await chromium.write(input);
  const view = await chromium.open(file);
  const { page } = view;
  assert.deepEqual(view.said, [], 'the console is silent');
  assert.equal(view.asked.length, 1, `nothing but the file is asked for: ${view.asked}`);
  assert.ok(await coloursOf(page, '#timeline canvas') > 5, 'the timeline is drawn');
  assert.ok(await coloursOf(page, '#lanes') > 2, 'addresses over time are drawn');
  assert.ok(await coloursOf(page, '#map') > 1, 'the map is drawn');
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 1280, 'nothing sticks out');
  return view;
}

/** What the page says about itself, added up from its own columns. */
const sums = (page) => page.evaluate(async () => {
  const recording = await window.neuronxMem.ready;
  const { totals } = recording.about;
  const most = (column) => column.reduce((a, b) => Math.max(a, b), 0);
  const last = (column) => column[column.length - 1];
  const held = (event) => recording.mapAt(event);
  const blocks = (event) => held(event).segments.flatMap((segment) => segment.blocks);
  const sum = (ids, column) => ids.reduce((total, id) => total + column[id], 0);
  return {
    totals, columns: {
      reserved_peak: most(recording.reserved), allocated_peak: most(recording.allocated), active_peak: most(recording.active),
      reserved: last(recording.reserved), allocated: last(recording.allocated), active: last(recording.active),
    },
    peak: {
      reserved: held(totals.peak_event).reserved, allocated: sum(blocks(totals.peak_event), recording.blockBytes),
      sites: recording.sitesAtPeak().reduce((total, row) => total + row.bytes, 0),
    },
    cards: [...document.querySelectorAll('.card b')].map((card) => card.textContent),
  };
});

for (const input of inputs('traces')) {
  test(`${input} has the figures of its replay`, async () => {
    const view = await opened(input);
    const { totals, columns, peak } = await sums(view.page);
    const csv = input.replace('.jsonl.gz', '.csv.zst');
    const replay = JSON.parse(await neuronx(['replay', csv, '--json']));
    for (const name of ['reserved', 'allocated', 'active']) {
      assert.equal(totals[name], replay[name], name);
      assert.equal(totals[`${name}_peak`], replay[`${name}_peak`], `${name} peak`);
      assert.equal(columns[name], replay[name], `${name} of the timeline`);
      assert.equal(columns[`${name}_peak`], replay[`${name}_peak`], `${name} peak of the timeline`);
    }
    assert.equal(totals.events, replay.events);
    assert.equal(totals.num_ooms, replay.num_ooms);
    assert.equal(peak.allocated, replay.allocated_peak, 'the map at the peak');
    assert.equal(peak.sites, replay.allocated_peak, 'the table at the peak');
    await view.close();
  });
}

for (const input of inputs('snapshots')) {
  test(`${input} adds up`, async () => {
    const view = await opened(input);
    const { totals, columns, peak } = await sums(view.page);
    for (const name of Object.keys(columns)) assert.equal(columns[name], totals[name], name);
    assert.equal(peak.allocated, totals.allocated_peak);
    assert.equal(peak.sites, totals.allocated_peak);
    const explain = JSON.parse(await neuronx(['explain', input, '--json'], [0, 1]));
    const bytes = explain.segments.reduce((sum, segment) => sum + segment.size, 0);
    assert.ok(totals.reserved >= bytes, 'no segment that explain shows is missing');
    await view.page.click('#axis-time');
    await view.page.evaluate(() => window.neuronxMem.drawn());
    assert.ok(await coloursOf(view.page, '#timeline canvas') > 5, 'by time as well');
    assert.deepEqual(view.said, []);
    await view.close();
  });
}

test('a snapshot that was recorded here has the figures of its replay', async () => {
  const snapshot = path.join(chromium.folder, 'own.pickle');
  const replay = JSON.parse(await neuronx(['replay', 'tests/data/traces/resnet50.csv.zst', '--until', '5000', '--json', '--snapshot', snapshot]));
  const view = await opened(snapshot);
  const { totals } = await sums(view.page);
  for (const name of ['reserved', 'allocated', 'active', 'reserved_peak', 'allocated_peak', 'active_peak']) {
    assert.equal(totals[name], replay[name], name);
  }
  await view.close();
});

test('the page of a replay shows its out-of-memory error', async () => {
  const file = path.join(chromium.folder, 'oom.html');
  const args = ['replay', 'tests/data/traces/gpt2_bf16.csv.zst', '--memory', '6GiB', '--json', '--html', file];
  const replay = JSON.parse(await neuronx(args, [1]));
  const view = await chromium.open(file);
  assert.match(await view.page.textContent('#oom'), /^Event [\d,]+: Neuron out of memory/);
  await view.page.click('#to-oom');
  await view.page.evaluate(() => window.neuronxMem.drawn());
  assert.equal(await view.page.evaluate(() => window.neuronxMem.state.event), replay.oom.event);
  assert.match(await view.page.textContent('#moment-text'), /out of memory/);
  assert.deepEqual(view.said, []);
  await view.close();
});
