// Input that wants to be more than data, and input that is too large to be shown in full.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { browser, coloursOf, start } from './support.mjs';

let chromium;
before(async () => { chromium = await browser(); });
after(() => chromium.close());

const EVIL = '</script><img src=x onerror="alert(1)"><svg onload=alert(2)>';

/** A snapshot in JSON with one block at the end of a short history. */
function snapshot(name, filename) {
  const frames = [{ name, filename, line: 7 }];
  const block = { address: 4096, size: 1024, requested_size: 1000, state: 'active_allocated', frames };
  const segment = {
    device: 0, address: 4096, total_size: 2097152, allocated_size: 1024, active_size: 1024, requested_size: 1000, stream: 0,
    segment_type: 'small', segment_pool_id: [0, 0], is_expandable: false, frames: [],
    blocks: [block, { address: 5120, size: 2096128, requested_size: 0, state: 'inactive', frames: [] }],
  };
  const entry = (action, addr, size, rest) => ({ action, addr, size, stream: 0, time_us: 1000000, ...rest });
  return {
    segments: [segment],
    device_traces: [[entry('segment_alloc', 4096, 2097152, {}), entry('alloc', 4096, 1000, { frames }), entry('annotate', 4096, 1000, { user_metadata: name })]],
    external_annotations: [{ stage: 'START', name, device: 0, time_us: 999999 }],
  };
}

async function shown(text, file) {
  const input = path.join(chromium.folder, `${file}.json`);
  writeFileSync(input, JSON.stringify(snapshot(text, `/src/${text}.py`)));
  const view = await chromium.open(await chromium.write(input));
  await view.page.evaluate(() => { window.neuronxMem.change({ pinned: 0, table: 'moment' }); return window.neuronxMem.drawn(); });
  await view.page.fill('#search', '#0');
  return view;
}

test('markup in names is text', async () => {
  const { page, said, asked, close } = await shown(EVIL, 'markup');
  assert.ok((await page.textContent('#details')).includes(EVIL));
  assert.ok((await page.textContent('#search-results')).includes(EVIL));
  assert.ok((await page.textContent('#stacks')).includes(EVIL));
  assert.equal(await page.locator('img, svg, iframe, object, link').count(), 0);
  assert.deepEqual(said, []);
  assert.equal(asked.length, 1);
  await close();
});

test('a name of a megabyte is cut and says so', async () => {
  const { page, said, close } = await shown('x'.repeat(1 << 20), 'long');
  const text = await page.textContent('#details');
  assert.ok(text.length < 5000 && text.includes('… [cut: 1048576 bytes in all]'), `${text.length}`);
  assert.match(await page.textContent('#notes'), /overlong texts? (was|were) cut/);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 1280);
  assert.deepEqual(said, []);
  await close();
});

test('letters that turn the direction of writing are shown as numbers', async () => {
  const { page, close } = await shown('safe\u202Egnp.exe\u2066\u0000', 'bidi');
  const text = await page.textContent('#details');
  assert.ok(text.includes('safe\\u{202e}gnp.exe\\u{2066}\\u{0}'), text);
  assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(await page.textContent('body')));
  await close();
});

test('the policy keeps a stranger from running and from calling out', async () => {
  const { page, close } = await shown('plain', 'policy');
  const refused = await page.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.hasRun = true';
    document.body.append(script);
    const call = await fetch('http://127.0.0.1:9/').then(() => 'answered', (error) => error.name);
    const button = document.createElement('button');
    button.setAttribute('onclick', 'window.hasRun = true');
    document.body.append(button);
    button.click();
    return { hasRun: window.hasRun ?? false, call };
  });
  assert.deepEqual(refused, { hasRun: false, call: 'TypeError' });
  await close();
});

test('a run with nothing in it is shown as such', async () => {
  const inputs = { 'marks.csv': 'm,begin\ns\nm,end\n', 'empty.csv': 'a,1,0,0\nf,1\n', 'empty.json': '{"segments": [], "device_traces": [[]]}' };
  for (const [name, text] of Object.entries(inputs)) {
    const input = path.join(chromium.folder, name);
    writeFileSync(input, text);
    const { page, said, close } = await chromium.open(await chromium.write(input));
    assert.match(await page.textContent('#cards'), /Peak reserved0 B/, name);
    assert.match(await page.textContent('#map-text'), /0 segments, 0 B/, name);
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.evaluate(() => window.neuronxMem.drawn());
    assert.deepEqual(said, [], name);
    await close();
  }
});

test('numbers beyond all measure break nothing', async () => {
  const made = snapshot('huge', 'huge.py');
  const [segment] = made.segments;
  Object.assign(segment, { total_size: 2 ** 62, address: 2 ** 60 });
  segment.blocks = [{ address: 2 ** 60, size: 2 ** 61, requested_size: 2 ** 61 - 8, state: 'active_allocated', frames: [] },
    { address: 2 ** 60 + 2 ** 61, size: 2 ** 61, requested_size: 0, state: 'inactive', frames: [] }];
  const input = path.join(chromium.folder, 'huge.json');
  writeFileSync(input, JSON.stringify(made, (key, value) => (typeof value === 'number' && value > 2 ** 53 ? `@${BigInt(value)}@` : value)).replace(/"@(\d+)@"/g, '$1'));
  const { page, said, close } = await chromium.open(await chromium.write(input));
  assert.match(await page.textContent('#map-text'), /4\.00 EiB/);
  assert.ok(await coloursOf(page, '#map') > 1);
  assert.deepEqual(said, []);
  await close();
});

/** Tensors in a row, a few hundred live at once; more of them than a page has one by one. */
function bigTrace(count) {
  const lines = [];
  for (let id = 1; id <= count; id += 1) {
    lines.push(`a,${id},${512 * (1 + ((id * 7919) % 4096))},0`);
    if (id > 300) lines.push(`f,${id - 300}`);
  }
  return lines.join('\n');
}

test('a run too large for a page says what it sums up', async () => {
  const input = path.join(chromium.folder, 'big.csv');
  writeFileSync(input, bigTrace(450000));
  const file = await chromium.write(input);
  const began = performance.now();
  const { page, said, close } = await chromium.open(file);
  const opened = performance.now() - began;
  const notes = await page.textContent('#notes');
  assert.match(notes, /400,000 of 450,000 are on this page one by one/);
  assert.match(notes, /4 events make a point/);
  assert.match(await page.textContent('#moment-text'), /reserved [\d.]+ [MG]iB, allocated [\d.]+ [MG]iB/, 'exact at a whole moment');
  const { peak, isWhole, rest, sum } = await page.evaluate(async () => {
    const recording = await window.neuronxMem.ready;
    const event = recording.about.totals.peak_event;
    const ids = recording.liveAt(event);
    return {
      peak: recording.about.totals.allocated_peak, isWhole: recording.isWhole(event), rest: recording.restAt(event),
      sum: ids.reduce((total, id) => total + recording.blockBytes[id], 0),
    };
  });
  assert.ok(isWhole && rest === 0);
  assert.equal(sum, peak, 'the peak is whole');
  const partial = await page.evaluate(async () => {
    const recording = await window.neuronxMem.ready;
    let event = 5000;
    while (recording.restAt(event) === 0) event += 997;
    window.neuronxMem.change({ event, table: 'moment' });
    await window.neuronxMem.drawn();
    return event;
  });
  assert.ok(partial > 0);
  assert.match(await page.textContent('#map-text'), /in smaller blocks that this page does not have one by one/);
  assert.match(await page.textContent('#stacks-text'), /more in blocks that this page does not have one by one/);
  assert.match(await page.textContent('#moment-text'), /reserved ≤ /);
  await page.click('#to-whole');
  await page.evaluate(() => window.neuronxMem.drawn());
  assert.ok(await page.evaluate(async () => (await window.neuronxMem.ready).isWhole(window.neuronxMem.state.event)));
  assert.doesNotMatch(await page.textContent('#map-text'), /one by one/);
  assert.deepEqual(said, []);
  console.log(`opened in ${Math.round(opened)} ms`);
  await close();
});

test('the page is served to this host by its own name only', async () => {
  const server = start(['view', 'tests/data/snapshots/small_history.pickle', '--serve', '0']);
  try {
    const address = await new Promise((done) => { server.stdout.once('data', (data) => done(String(data).trim())); });
    const { port } = new URL(address);
    const ask = (method, target, host) => new Promise((done, failed) => {
      const request = http.request({ host: '127.0.0.1', port, method, path: target, headers: { Host: host }, agent: false }, (answer) => {
        let text = '';
        answer.on('data', (part) => { text += part; });
        answer.on('end', () => done({ code: answer.statusCode, text }));
      });
      request.on('error', failed);
      request.end();
    });
    const page = await ask('GET', '/', `localhost:${port}`);
    assert.equal(page.code, 200);
    assert.ok(page.text.startsWith('<!doctype html>') && page.text.endsWith('</html>\n'));
    assert.equal((await ask('GET', '/', 'rebound.example')).code, 421);
    assert.equal((await ask('GET', '/other', `127.0.0.1:${port}`)).code, 404);
    assert.equal((await ask('POST', '/', `127.0.0.1:${port}`)).code, 405);
    const sockets = execFileSync('sh', ['-c', 'cat /proc/net/tcp']).toString();
    const hex = Number(port).toString(16).toUpperCase().padStart(4, '0');
    const listening = sockets.split('\n').filter((line) => line.includes(`:${hex} 00000000:0000 0A`));
    assert.equal(listening.length, 1);
    assert.ok(listening[0].includes(`0100007F:${hex}`), 'loopback only');
  } finally {
    server.kill();
  }
});
