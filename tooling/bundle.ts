import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import * as swagger from '@nestjs/swagger';
import { build, type Plugin } from 'rolldown';

const PROJECT = resolve(import.meta.dirname, '..');
const BUILD = join(PROJECT, 'build');
const DIST = join(PROJECT, 'dist');

const ENTRIES = ['main.js', 'cli/main.js'];

const NATIVE = ['@node-rs/argon2', 'argon2', 'bcrypt'];

/** Nest imports them only for features that Accounts does not use. They are not installed. */
const OPTIONAL = [
  /^@nestjs\/(?:microservices|websockets|platform-express)/,
  '@fastify/multipart',
  '@fastify/view',
];

/** Modules find files by their own location, which changes unless they are entries. */
const ownModules: Plugin = {
  name: 'own-modules',
  load: {
    filter: { id: /[\\/]build[\\/].+\.js$/ },
    handler(id) {
      const module = relative(BUILD, id).replaceAll('\\', '/');
      const code = readFileSync(id, 'utf8');
      const moved = code
        .replaceAll('import.meta.url', `new URL('../${module}', import.meta.url).href`)
        .replaceAll('import.meta.dirname', `(import.meta.dirname + '/../${dirname(module)}')`);
      return { code: ENTRIES.includes(module) ? code : moved, map: readFileSync(`${id}.map`, 'utf8') };
    },
  },
};

/** The decorators of `@nestjs/swagger` do nothing in the service: `openapi/write.ts` has read them before. */
const withoutSwagger: Plugin = {
  name: 'without-swagger',
  resolveId: { filter: { id: /^@nestjs\/swagger$/ }, handler: () => '\0swagger' },
  load: {
    filter: { id: /^\0swagger$/ },
    handler() {
      const decorators = Object.keys(swagger).filter((name) => name.startsWith('Api'));
      const types = ['IntersectionType', 'OmitType', 'PartialType'];
      return [
        ...decorators.map((name) => `export const ${name} = () => () => {};`),
        ...types.map((name) => `export const ${name} = () => class {};`),
        "export const getSchemaPath = () => '';",
      ].join('\n');
    },
  },
};

/** `@nestjs/typeorm` looks in `node_modules` for classes that TypeORM 1 does not have. */
const withoutTypeorm0: Plugin = {
  name: 'without-typeorm-0',
  load: {
    filter: { id: /@nestjs[\\/]typeorm[\\/]dist[\\/]common[\\/]typeorm-compat\.js$/ },
    handler: () => 'export const Connection = undefined;\nexport const AbstractRepository = undefined;\n',
  },
};

/** The maps of libraries are ten times as large as the maps of Accounts, and the log would read them. */
const withoutMapsOfLibraries: Plugin = {
  name: 'without-maps-of-libraries',
  generateBundle(_options, files) {
    for (const name of Object.keys(files)) if (/library\d*\.js\.map$/.test(name)) delete files[name];
  },
};

const { output } = await build({
  cwd: PROJECT,
  platform: 'node',
  input: Object.fromEntries(ENTRIES.map((entry) => [entry.replace(/\.js$/, ''), join(BUILD, entry)])),
  external: [...NATIVE, ...OPTIONAL],
  plugins: [ownModules, withoutSwagger, withoutTypeorm0, withoutMapsOfLibraries],
  output: {
    dir: DIST,
    cleanDir: true,
    format: 'es',
    // Nest and TypeORM name providers and entities by their classes.
    keepNames: true,
    // Decorators need reflect-metadata, which Nest imports first.
    strictExecutionOrder: true,
    chunkFileNames: ({ name }) => `chunks/${name.split('~')[0]}.js`,
    codeSplitting: { groups: [{ name: 'library', test: /[\\/]node_modules[\\/]/, entriesAware: true }] },
    sourcemap: true,
    sourcemapExcludeSources: true,
    comments: false,
  },
  onLog: (level, { message }) => {
    if (level === 'warn') throw new Error(message);
  },
});

for (const file of readdirSync(BUILD, { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.txt')) cpSync(join(BUILD, file), join(DIST, file), { recursive: true });

const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
const packages = new Set([
  join(PROJECT, 'node_modules/swagger-ui-dist'),
  ...modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? []),
]);
writeFileSync(
  join(DIST, 'licenses.txt'),
  [...packages]
    .map(licenseOf)
    .toSorted()
    .join(`\n${'-'.repeat(80)}\n\n`),
);

await import('./openapi/write.ts');

function licenseOf(directory: string): string {
  const {
    name,
    version,
    license = 'see below',
  } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    [key: string]: string;
  };
  const texts = readdirSync(directory).filter((file) => /(?:^|\.)(?:licen[cs]e|copying|notice)/i.test(file));
  const whole = texts.map((file) => `\n${readFileSync(join(directory, file), 'utf8').trim()}\n`);
  return `${name} ${version} (${license})\n${whole.join('')}`;
}
