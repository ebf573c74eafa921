// Builds dist/cjs for programs that `require` the package, such as tests with Jest: node scripts/build-commonjs.ts [DIST]
import { cpSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build } from 'vite';

const CLIENT = join(import.meta.dirname, '..');
const DIST = resolve(process.argv[2] ?? join(CLIENT, 'dist'));
const CJS = join(DIST, 'cjs');
const ENTRIES = [
  'index',
  'admin',
  'file-store',
  'express',
  'fastify',
  'nest',
  'service/index',
  'testing/index',
];

// jose has ES modules only, so that the build contains it.
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
    emptyOutDir: true,
    rolldownOptions: {
      input: Object.fromEntries(ENTRIES.map((name) => [name, join(CLIENT, `src/${name}.ts`)])),
      external: [/^node:/, /^@nestjs\//],
      output: { format: 'cjs', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  },
});
for (const file of globSync('**/*.d.ts', { cwd: DIST, exclude: ['cjs'] })) {
  mkdirSync(dirname(join(CJS, file)), { recursive: true });
  cpSync(join(DIST, file), join(CJS, file));
}
// Its license wants to be with it.
cpSync(join(CLIENT, '../node_modules/jose/LICENSE.md'), join(CJS, 'LICENSE.jose.md'));
writeFileSync(join(CJS, 'package.json'), '{ "type": "commonjs" }\n');
