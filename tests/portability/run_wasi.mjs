// Runs a WASI program: node run_wasi.mjs PROGRAM.wasm [ARGUMENT...]. It sees the whole file system.
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { WASI } from 'node:wasi';

const [program, ...rest] = process.argv.slice(2);
const wasi = new WASI({
  version: 'preview1',
  args: [program, ...rest],
  preopens: { '/': '/' },
  returnOnExit: true,
});
const module = await WebAssembly.compile(await readFile(program));
// Node's own functions, called by WebAssembly directly, may collect garbage where V8 does not expect
// it, and crash (nodejs/node issue 46777): call them from JavaScript.
const calls = Object.entries(wasi.wasiImport).map(([name, f]) => [name, (...args) => f(...args)]);
const instance = await WebAssembly.instantiate(module, {
  wasi_snapshot_preview1: Object.fromEntries(calls),
});
process.exitCode = wasi.start(instance);
