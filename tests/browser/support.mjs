// What the tests of the page share: the command, Chromium without a network, and pages in it. Tests
// nothing itself. Run by `cargo xtask test --browser`, which sets the variables.

import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const { chromium } = createRequire(path.join(process.env.BROWSER_MODULES, 'index.js'))('playwright-core');
const run = promisify(execFile);

/** Chromium of the system; none of its own calls home either. */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--force-color-profile=srgb'];

export const root = process.cwd();
export const command = process.env.NEURONX_MEM;
export const pictures = process.env.BROWSER_PICTURES;

/** Runs the command in the root of the workspace; the exit code must be one of those allowed. */
export async function neuronx(args, codes = [0]) {
  const env = { ...process.env };
  delete env.TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG;
  try {
    return (await run(command, args, { cwd: root, env, maxBuffer: 1 << 28 })).stdout;
  } catch (failure) {
    if (codes.includes(failure.code)) return failure.stdout;
    throw failure;
  }
}

/** Starts the command and leaves it running. */
export const start = (args) => spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });

/** A browser and a folder of its own, both gone with `close`. */
export async function browser() {
  const chromiumBrowser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  const folder = await mkdtemp(path.join(tmpdir(), 'neuronx-mem-view-'));
  return {
    folder,
    /** Writes the page of an input, and says where. */
    async write(input, ...options) {
      const file = path.join(folder, `${path.basename(input)}.html`);
      await neuronx(['view', input, '-o', file, ...options]);
      return file;
    },
    /** Opens a file, offline; the page notes requests and whatever is said on its console. */
    async open(file, { width = 1280, height = 900, scheme = 'light' } = {}) {
      const context = await chromiumBrowser.newContext({ viewport: { width, height }, colorScheme: scheme, offline: true });
      const page = await context.newPage();
      const said = [];
      const asked = [];
      page.on('console', (message) => said.push(message.text()));
      page.on('pageerror', (error) => said.push(String(error)));
      page.on('dialog', (dialog) => { said.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(pathToFileURL(file).href);
      await page.evaluate(() => window.neuronxMem.ready.then(() => null));
      return { page, said, asked, close: () => context.close() };
    },
    async close() {
      await chromiumBrowser.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** How many colours a part of a canvas has: one means that nothing is drawn. */
export function coloursOf(page, selector) {
  return page.evaluate((it) => {
    const canvas = document.querySelector(it);
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4) seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
    return seen.size;
  }, selector);
}
