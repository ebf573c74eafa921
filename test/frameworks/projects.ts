import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A new project of a framework, as its own generator makes it, and what guards a route of it. */
export interface Project {
  name: string;
  /** Makes the folder `name`. */
  generate: string[][];
  /** Replaces texts of generated files, or appends where there is none to replace. */
  edits: { file: string; replace?: string; by: string }[];
  /** Run in the project, before it starts. */
  prepare: string[][];
  start: string[];
}

/** Below this, a guard is worth a look; the lines are those of the program, without its tests. */
export const MOST_LINES = 9;

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/services.md'), 'utf8');
const SNIPPET = /^## Guard an Express route$.*?^```js\n(.*?)^```$/ms.exec(PAGE)![1]!;
const CREDENTIALS = "const credentials = { name: 'billing', secret: process.env.ACCOUNTS_SECRET }";
const OPTIONS = "{ issuer: process.env.ACCOUNTS_URL, audience: 'billing', credentials }";
const ROUTE = "'/orgs/:orgId/invoices'";
const MADE = `${CREDENTIALS};\nconst guard = createGuard(${OPTIONS});\n`;
const required = (
  entry: string,
): string => `const { memberOf, requireMember } = require('accounts-client/${entry}');
const { createGuard } = require('accounts-client/service');
`;

const nest = (version: number, extension: string): Project => ({
  name: `nest-${version}`,
  generate: [
    `npx --yes @nestjs/cli@${version} new nest-${version} --skip-git --skip-install --package-manager npm`.split(
      ' ',
    ),
  ],
  edits: [
    {
      file: 'src/app.module.ts',
      replace: 'imports: [],',
      by: `imports: [AccountsModule.forRoot(${OPTIONS.replace('_URL', '_URL!')})],`,
    },
    {
      file: 'src/app.module.ts',
      replace: '@Module(',
      by: `${CREDENTIALS.replace('_SECRET', '_SECRET!')};\n\n@Module(`,
    },
    {
      file: 'src/app.module.ts',
      replace: `import { AppService } from './app.service${extension}';`,
      by: `import { AppService } from './app.service${extension}';\nimport { AccountsModule } from 'accounts-client/nest';`,
    },
    {
      file: 'src/app.controller.ts',
      replace: `import { AppService } from './app.service${extension}';`,
      by: `import { AppService } from './app.service${extension}';\nimport { RequireMember } from 'accounts-client/nest';`,
    },
    {
      file: 'src/app.controller.ts',
      replace: '@Get()',
      by: `@Get(${ROUTE})\n  @RequireMember({ role: 'admin' })`,
    },
    {
      file: 'src/app.controller.spec.ts',
      replace: 'providers: [AppService],',
      by: 'providers: [AppService, { provide: GUARD, useValue: fakeGuard() }],',
    },
    {
      file: 'src/app.controller.spec.ts',
      replace: 'describe(',
      by: "import { GUARD } from 'accounts-client/nest';\nimport { fakeGuard } from 'accounts-client/testing';\n\ndescribe(",
    },
  ],
  prepare: [
    ['npm', 'run', 'build'],
    ['npm', 'test'],
  ],
  start: ['npm', 'run', 'start:prod'],
});

export const PROJECTS: readonly Project[] = [
  {
    name: 'express-5',
    generate: [
      ['mkdir', 'express-5'],
      ['npm', 'init', '--yes', '--prefix', 'express-5'],
      ['npm', 'install', '--prefix', 'express-5', 'express@5'],
    ],
    edits: [
      {
        file: 'server.mjs',
        by: `${SNIPPET.replace("'https://accounts.example.com'", 'process.env.ACCOUNTS_URL')}
app.listen(process.env.PORT, '127.0.0.1');
`,
      },
    ],
    prepare: [],
    start: ['node', 'server.mjs'],
  },
  {
    name: 'express-4',
    generate: [['npx', '--yes', 'express-generator@4.16.1', '--no-view', 'express-4']],
    edits: [
      {
        file: 'app.js',
        replace: 'module.exports = app;',
        by: `${required('express')}${MADE}app.get(${ROUTE}, requireMember(guard, { role: 'admin' }), (request, response) => {
  response.json({ userId: memberOf(request).user.id });
});
module.exports = app;`,
      },
    ],
    prepare: [],
    start: ['npm', 'start'],
  },
  {
    name: 'fastify',
    generate: [['npx', '--yes', 'fastify-cli@8', 'generate', 'fastify']],
    edits: [
      {
        file: 'routes/root.js',
        replace: "  fastify.get('/'",
        by: `${MADE}fastify.addHook('onClose', () => guard.close());
  const preHandler = requireMember(guard, { role: 'admin' });
  fastify.get(${ROUTE}, { preHandler }, async (request) => ({ userId: memberOf(request).user.id }));
  fastify.get('/'`,
      },
      { file: 'routes/root.js', replace: 'module.exports', by: `${required('fastify')}module.exports` },
    ],
    prepare: [['npm', 'test']],
    start: ['npm', 'start'],
  },
  nest(11, ''),
  nest(12, '.js'),
];
