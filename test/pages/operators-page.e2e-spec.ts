import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { join as pathOf, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPILE_CACHE } from '../support/service-process.js';
import { anInvitation } from '../support/inviting.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccountOf, anOrgOf, join, type Org } from '../support/personas.js';
import { TestProvider } from '../support/provider.js';
import { protect } from '../support/second-factor.js';
import { type Instance, startOwnService } from '../support/service.js';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = ['admin-tasks.md', 'admin-providers.md', 'migrate.md']
  .map((page) => readFileSync(pathOf(ROOT, 'docs', page), 'utf8'))
  .join('\n');
const ORG_ID = /[0-9a-f]{8}-[0-9a-f-]{27}/g;
/** Runs until it is interrupted; test/cli has a test of its own for it. */
const ENDLESS = 'accounts events follow';
const COMMANDS = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)]
  .flatMap(([, block]) => block!.trimEnd().split('\n'))
  .filter((command) => command !== ENDLESS);
/** The rows of the page's table that have a route: the task, and the method and path. */
const TASKS = [...PAGE.matchAll(/^\| (.+?) +\|.*\| `((?:GET|POST) \/api\/operators\/[^`]+)` +\|$/gm)].map(
  ([, task, route]) => ({ task: task!, route: route! }),
);
/** Runs commands one after another as the built command line does, each of which would take a start of its own. */
const RUNNER = `
  import { COMMANDS } from '${ROOT}/build/cli/commands.js';
  import { runAccounts } from '${ROOT}/build/cli/command/program.js';
  const results = [];
  const write = process.stderr.write.bind(process.stderr);
  process.stdout.setMaxListeners(0);
  for (const parameters of JSON.parse(process.argv[1])) {
    let stderr = '';
    process.stderr.write = (text) => Boolean((stderr += text));
    results.push({ status: await runAccounts(parameters, COMMANDS), stderr });
  }
  write(JSON.stringify(results));
  process.exit(0);
`;

interface Result {
  status: number | null;
  stderr: string;
}

async function writeImports(directory: string, passwordHash: string): Promise<void> {
  const csv = `email,passwordHash,emailVerified,name\nalan@example.com,${passwordHash},true,Alan\n`;
  await writeFile(pathOf(directory, 'users.csv'), csv);
  const [, organizations = ''] = /^(org,email,role,id\n.+?)^```/ms.exec(PAGE) ?? [];
  await writeFile(pathOf(directory, 'organizations.csv'), organizations);
  const exports = pathOf(ROOT, 'test/cli/exports');
  for (const [from, to] of [
    ['keycloak-realm.json', 'realm.json'],
    ['auth0-password-hashes.ndjson', 'auth0.ndjson'],
    ['firebase-hash-config.txt', 'firebase-hash-config.txt'],
  ] as const)
    await copyFile(pathOf(exports, from), pathOf(directory, to));
  const { users } = JSON.parse(readFileSync(pathOf(exports, 'firebase-users.json'), 'utf8')) as {
    users: object[];
  };
  const withEmail = users.filter((user) => 'email' in user);
  await writeFile(pathOf(directory, 'firebase.json'), JSON.stringify({ users: withEmail }));
}

describe('the pages with the tasks of operators', () => {
  let installation: Installation;
  let service: Instance;
  /** in the place of each provider of the page */
  let provider: TestProvider;
  const results: Result[] = [];

  beforeAll(async () => {
    installation = await anInstallation();
    service = await startOwnService({ installation });
    provider = await TestProvider.start();
    await writeFile(pathOf(installation.directory, 'secret.txt'), `${provider.secret}\n`);
    await writeFile(pathOf(installation.directory, 'password.txt'), 'a compiler in the attic\n');
    const passwordHash = '$2y$04$7SinNdq8UJINIhJBZ8ZG4u9lUUIdSiE0geS98hBC1iVqs9cMiZvqG';
    const joan = JSON.stringify({ email: 'joan@example.com', passwordHash });
    await writeFile(pathOf(installation.directory, 'users.jsonl'), joan);
    await writeFile(pathOf(installation.directory, 'leavers.txt'), 'hedy@old.example\n');
    await writeImports(installation.directory, passwordHash);
    const [ada, grace] = await Promise.all(['ada', 'grace'].map((name) => register(name)));
    const org = await anOrgOf(ada!);
    await join(org, ada!, grace!, 'member');
    await register('hedy', 'old.example');
    await register('joan');
    await protect(service, await register('support'));
    await anInvitation(ada!, org, { email: 'hedy@example.com' });
    await runAll(org);
  });
  afterAll(async () => {
    provider.stop();
    await service.stop();
    await installation.remove();
  });

  const register = (name: string, domain = 'example.com') => anAccountOf(service, `${name}@${domain}`);

  it('has a command for each task', () => {
    expect(COMMANDS.length).toBeGreaterThan(15);
    expect(COMMANDS.filter((command) => !/^(?:umask 077; )?accounts /.test(command))).toEqual([]);
  });

  it('names every route of operators beside its command', () => {
    const document = JSON.parse(readFileSync(pathOf(ROOT, 'docs/openapi.json'), 'utf8')) as {
      paths: Record<string, object>;
    };
    const routes = Object.entries(document.paths)
      .filter(([path]) => path.startsWith('/api/operators/'))
      .flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`));
    expect(TASKS.map(({ route }) => route).toSorted()).toEqual(routes.toSorted());
  });

  async function runAll(org: Org): Promise<void> {
    let together: string[] = [];
    const runTogether = async (): Promise<void> => {
      const words = together.map((command) =>
        [...command.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word).slice(1),
      );
      const { stderr } = await run(process.execPath, [
        '--input-type=module',
        '-e',
        RUNNER,
        JSON.stringify(words),
      ]);
      results.push(...(JSON.parse(stderr) as Result[]));
      together = [];
    };
    for (const command of COMMANDS) {
      const here = command
        .replaceAll(ORG_ID, org.id)
        .replace(
          /--issuer \S+ --client-id \S+/,
          `--issuer ${provider.issuer} --client-id ${provider.clientId}`,
        )
        .replace('/var/lib/accounts/', `${installation.directory}/`);
      if (!/ [<>] /.test(command)) together.push(here);
      else {
        await runTogether();
        const accounts = `'${process.execPath}' '${ROOT}/dist/cli/main.js'`;
        results.push(await run('sh', ['-c', here.replace(/\baccounts(?= )/, accounts)]));
      }
    }
    await runTogether();
  }

  /** The provider answers in this process meanwhile. */
  async function run(program: string, parameters: string[]): Promise<Result> {
    const child = spawn(program, parameters, {
      cwd: installation.directory,
      env: {
        PATH: process.env['PATH'],
        JWT_ISSUER: 'https://accounts.example.com',
        ...COMPILE_CACHE,
        ...installation.env,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    return { status: status as number | null, stderr };
  }

  it.each(COMMANDS.map((command, place) => [command, place] as const))('%s', (_command, place) => {
    expect(results[place]).toMatchObject({ status: 0, stderr: '' });
  });
});
