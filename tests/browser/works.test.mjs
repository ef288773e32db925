// What a person does with the page: point, click, filter, search, zoom, use the keyboard. Writes the
// pictures of four states.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { browser, pictures } from './support.mjs';

const GPT2 = 'tests/data/traces/gpt2_bf16.jsonl.gz';
const OOM = 'tests/data/snapshots/oom.pickle';
const STREAMS = 'tests/data/snapshots/multi_stream.pickle';

let chromium;
const files = {};
before(async () => {
  chromium = await browser();
  for (const input of [GPT2, OOM, STREAMS]) files[input] = await chromium.write(input);
});
after(() => chromium.close());

const drawn = (page) => page.evaluate(() => window.neuronxMem.drawn());
const picture = (page, name) => page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true });

/** The largest block of the map, where it is drawn, and what the columns say of it. */
const largest = (page) => page.evaluate(async () => {
  const { state, map } = window.neuronxMem;
  const recording = await window.neuronxMem.ready;
  const blocks = recording.mapAt(state.event).segments.flatMap((segment) => segment.blocks);
  const id = blocks.reduce((a, b) => (recording.blockBytes[b] > recording.blockBytes[a] ? b : a));
  document.querySelector('#map').scrollIntoView({ block: 'center' });
  const box = document.querySelector('#map').getBoundingClientRect();
  const at = map.whereIs(id);
  return {
    id, x: box.left + at.x, y: box.top + at.y, address: `0x${recording.addresses[id].toString(16)}`,
    bytes: recording.bytes[id], name: recording.frames(recording.siteIdxs[id])[0]?.name,
  };
});

test('pointing at a block and clicking it shows that block', async () => {
  const { page, said, close } = await chromium.open(files[GPT2]);
  const block = await largest(page);
  await page.mouse.move(block.x, block.y);
  await drawn(page);
  const tip = await page.textContent('#tip');
  assert.ok(tip.includes(block.address) && tip.includes(block.name), tip);
  assert.ok(await page.isVisible('#tip'));
  await page.mouse.click(block.x, block.y);
  await page.mouse.move(5, 5);
  await drawn(page);
  const details = await page.textContent('#details');
  assert.ok(details.includes(block.address) && details.includes(block.bytes.toLocaleString('en-US')), details);
  assert.ok(await page.locator('#details .stack li').count() > 1, 'the whole stack');
  assert.ok(!await page.isVisible('#tip'));
  await picture(page, '1-block-kept');
  await page.keyboard.press('Escape');
  await drawn(page);
  assert.match(await page.textContent('#details'), /Point at a block/);
  assert.deepEqual(said, []);
  await close();
});

test('the rectangle of a block in the lanes is that block', async () => {
  const { page, close } = await chromium.open(files[GPT2]);
  const wanted = await page.evaluate(async () => {
    const { lanes, state } = window.neuronxMem;
    const recording = await window.neuronxMem.ready;
    const live = recording.liveAt(state.event).filter((id) => recording.places[id] >= 0);
    const id = live.reduce((a, b) => (recording.blockBytes[b] > recording.blockBytes[a] ? b : a));
    document.querySelector('#lanes').scrollIntoView({ block: 'center' });
    const box = document.querySelector('#lanes').getBoundingClientRect();
    const scales = lanes.scales();
    return { id, x: box.left + scales.x(state.event), y: box.top + scales.y(recording.places[id] + recording.blockBytes[id] / 2) };
  });
  await page.mouse.move(wanted.x, wanted.y);
  await drawn(page);
  assert.equal(await page.evaluate(() => window.neuronxMem.state.hovered), wanted.id);
  await close();
});

test('a filter leaves what matches, and its sums are right', async () => {
  const { page, said, close } = await chromium.open(files[GPT2]);
  await page.fill('#filter-text', 'addmm');
  await page.fill('#filter-min', '10 MiB');
  await drawn(page);
  const { expected, live, matching, sum } = await page.evaluate(async () => {
    const { state, filter } = window.neuronxMem;
    const recording = await window.neuronxMem.ready;
    const isWanted = (id) => recording.bytes[id] >= 10 * 1024 * 1024
      && recording.frames(recording.siteIdxs[id]).some((frame) => `${frame.name} ${frame.file}`.toLowerCase().includes('addmm'));
    const ids = Array.from({ length: recording.count }, (_, id) => id).filter(isWanted);
    const held = ids.filter((id) => recording.isLive(id, state.event));
    return {
      expected: ids, live: held.reduce((total, id) => total + recording.blockBytes[id], 0),
      matching: ids.filter((id) => filter.matches(id)).length, sum: filter.sums[state.event],
    };
  });
  assert.ok(expected.length > 20);
  assert.equal(matching, expected.length);
  assert.equal(sum, live, 'the line over the timeline');
  const text = await page.textContent('#filter-result');
  assert.ok(text.startsWith(`${expected.length.toLocaleString('en-US')} of 4,929 match`), text);
  await picture(page, '2-filtered');
  await page.click('#filter-clear');
  await drawn(page);
  assert.match(await page.textContent('#filter-result'), /no filter/);
  assert.deepEqual(said, []);
  await close();
});

test('streams can be told apart', async () => {
  const { page, close } = await chromium.open(files[STREAMS]);
  const options = await page.locator('#filter-stream option').allTextContents();
  assert.deepEqual(options, ['any', 'stream 0', 'stream 1', 'stream 2', 'stream 3', 'stream 4']);
  await page.selectOption('#filter-stream', '2');
  await page.selectOption('#colour', 'stream');
  await drawn(page);
  const all = await page.evaluate(async () => {
    const recording = await window.neuronxMem.ready;
    return recording.streamIdxs.every((stream, id) => window.neuronxMem.filter.matches(id) === (stream === 2));
  });
  assert.ok(all);
  assert.match(await page.textContent('#map-legend'), /stream 3/);
  await close();
});

test('a search finds an address, a number and a stack', async () => {
  const { page, close } = await chromium.open(files[GPT2]);
  const block = await largest(page);
  await page.fill('#search', block.address);
  const rows = await page.locator('#search-results button').allTextContents();
  assert.ok(rows.length > 0 && rows.every((row) => row.includes('0x')), rows.join());
  await page.fill('#search', `#${block.id}`);
  await page.keyboard.press('Enter');
  await drawn(page);
  assert.equal(await page.evaluate(() => window.neuronxMem.state.pinned), block.id);
  await page.fill('#search', 'log_softmax');
  assert.match(await page.locator('#search-results button').first().textContent(), /log_softmax/);
  await page.fill('#search', 'there is no such function');
  assert.match(await page.textContent('#search-results'), /Nothing found/);
  await close();
});

test('the moment moves with the slider, the keyboard and the timeline', async () => {
  const { page, said, close } = await chromium.open(files[OOM], { scheme: 'dark' });
  const event = () => page.evaluate(() => window.neuronxMem.state.event);
  const press = async (key) => { await page.keyboard.press(key); await drawn(page); };
  await press('Home');
  assert.equal(await event(), 0);
  await press('ArrowRight');
  await press('Shift+ArrowRight');
  assert.equal(await event(), 101);
  await press('o');
  assert.match(await page.textContent('#moment-text'), /out of memory: a request of 700 MiB failed/);
  await press('p');
  assert.equal(await event(), await page.evaluate(async () => (await window.neuronxMem.ready).about.totals.peak_event));
  await page.locator('#moment').fill('500');
  await drawn(page);
  assert.equal(await event(), 500);
  assert.match(await page.textContent('#map-text'), /^event 500 /);
  const box = await page.locator('.u-over').boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await drawn(page);
  assert.ok(Math.abs(await event() - 676) <= 2, 'the middle of 1,352 events');
  await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 40, { steps: 5 });
  await page.mouse.up();
  await drawn(page);
  const [from, to] = await page.evaluate(() => window.neuronxMem.state.range);
  assert.ok(Math.abs(from - 338) <= 4 && Math.abs(to - 676) <= 4, `zoomed to ${from}..${to}`);
  await press('0');
  assert.deepEqual(await page.evaluate(() => window.neuronxMem.state.range), [0, 1352]);
  await page.focus('#map');
  await press('ArrowRight');
  await press('Enter');
  assert.ok(await page.evaluate(() => window.neuronxMem.state.pinned) >= 0, 'a block is kept by keyboard alone');
  await picture(page, '3-out-of-memory-dark');
  assert.deepEqual(said, []);
  await close();
});

test('focus is always seen, and every control has a name', async () => {
  const { page, close } = await chromium.open(files[OOM]);
  const seen = new Set();
  for (let turn = 0; turn < 40; turn += 1) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate(() => {
      const it = document.activeElement;
      const name = it.ariaLabel || it.textContent.trim() || it.title || it.labels?.[0]?.textContent || it.getAttribute('aria-label');
      return { id: it.id || it.className || it.tagName, tag: it.tagName, name, outline: getComputedStyle(it).outlineStyle };
    });
    if (focus.tag === 'BODY') break;
    assert.notEqual(focus.outline, 'none', `${focus.id} shows its focus`);
    assert.ok(focus.name, `${focus.id} has a name`);
    seen.add(focus.id);
  }
  for (const id of ['search', 'theme', 'axis-time', 'lanes', 'moment', 'map', 'stacks-moment']) assert.ok(seen.has(id), id);
  await close();
});

test('a phone shows everything without sideways scrolling', async () => {
  const { page, said, close } = await chromium.open(files[STREAMS], { width: 390, height: 844 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  for (const id of ['#timeline', '#lanes', '#map', '#stacks', '#notes']) {
    const box = await page.locator(id).boundingBox();
    assert.ok(box.width > 250 && box.x + box.width <= 390, `${id} ${box.x} ${box.width}`);
  }
  await picture(page, '4-phone');
  assert.deepEqual(said, []);
  await close();
});
