// Builds dist/cjs for programs that `require` the package, such as tests with Jest: node scripts/build-commonjs.ts [DIST]
import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build } from 'vite';

const CLIENT = join(import.meta.dirname, '..');
const DIST = resolve(process.argv[2] ?? join(CLIENT, 'dist'));
const CJS = join(DIST, 'cjs');
const SCRIPTS = 'src/conformance/scripts';
const ENTRIES = [
  'index',
  'admin',
  'conformance/report',
  'file-store',
  'express',
  'fastify',
  'loopback',
  'nest',
  'electron/index',
  'electron/page',
  'guard/main',
  'service/index',
  'tauri',
  'testing/index',
];

rmSync(CJS, { recursive: true, force: true });
await bundle(ENTRIES);
// By itself, so that it is one file: a sandboxed preload script can load no other.
await bundle(['electron/preload']);
// As an ES module, it could not load `electron`.
rmSync(join(DIST, 'electron/preload.js'), { force: true });
for (const file of globSync('**/*.d.ts', { cwd: DIST, exclude: ['cjs'] })) {
  mkdirSync(dirname(join(CJS, file)), { recursive: true });
  cpSync(join(DIST, file), join(CJS, file));
}
for (const made of [DIST, CJS]) {
  cpSync(join(CLIENT, SCRIPTS), join(made, 'conformance/scripts'), { recursive: true });
}
// Its license wants to be with it.
cpSync(join(CLIENT, '../node_modules/jose/LICENSE.md'), join(CJS, 'LICENSE.jose.md'));
writeFileSync(join(CJS, 'package.json'), '{ "type": "commonjs" }\n');

/** jose has ES modules only, so that the build contains it. */
async function bundle(entries: string[]): Promise<void> {
  await build({
    root: CLIENT,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: ['jose'] },
    build: {
      ssr: true,
      target: 'node20',
      minify: false,
      outDir: CJS,
      emptyOutDir: false,
      rolldownOptions: {
        input: Object.fromEntries(entries.map((name) => [name, join(CLIENT, `src/${name}.ts`)])),
        external: [/^node:/, /^@nestjs\//, 'electron'],
        output: { format: 'cjs', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
      },
    },
  });
}
