import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { join as pathOf, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { COMPILE_CACHE } from '../support/service-process.js';
import { type ApiKey, insertApiKey } from '../support/api-keys.js';
import { anInvitation } from '../support/inviting.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccountOf, anOrgOf, join, type Org } from '../support/personas.js';
import { TestProvider } from '../support/provider.js';
import { RecordedProvider } from '../support/recorded-provider.js';
import { protect } from '../support/second-factor.js';
import { type Instance, startOwnService } from '../support/service.js';
import { expectPrinted, outputOf } from './support/outputs.js';
import { snippetsIn } from './support/page-program.js';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = ['admin-tasks.md', 'admin-providers.md', 'migrate.md', 'operate.md']
  .map((page) => readFileSync(pathOf(ROOT, 'docs', page), 'utf8'))
  .join('\n');
const KEY_ID = '019a8f3e-9e50-7c43-8e6f-8a0b2c4d5e6f';
const HASH = '$2y$04$7SinNdq8UJINIhJBZ8ZG4u9lUUIdSiE0geS98hBC1iVqs9cMiZvqG';
const ID = /[0-9a-f]{8}-[0-9a-f-]{27}/g;
/** The first runs until it is interrupted, the second waits for instances; test/cli has tests of their own for them. */
const SLOW = /^accounts (?:events follow|keys prune --now)/;
/** How a program is installed and replaced; test/machines and test/upgrade do that. */
const NEEDS_ROOT = /^(?:#!|cd \/opt)/;
const COMMANDS = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)]
  .map(([, block]) => block!.trimEnd().split('\n'))
  .filter((lines) => !lines.some((line) => NEEDS_ROOT.test(line)))
  .flat()
  .filter((command) => !SLOW.test(command));
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
    let [stdout, stderr] = ['', ''];
    process.stdout.write = (text, done) => (stdout += text, done?.(), true);
    process.stderr.write = (text) => Boolean((stderr += text));
    results.push({ status: await runAccounts(parameters, COMMANDS), stdout, stderr });
  }
  write(JSON.stringify(results));
  process.exit(0);
`;

interface Result {
  status: number | null;
  stdout: string;
  stderr: string;
}

const withHash = (users: string): string => users.replace(/\$2b\$10\$…/, () => HASH);

async function writeImports(directory: string): Promise<void> {
  const [users, organizations] = snippetsIn(PAGE, 'csv').map(withHash);
  const [lines] = snippetsIn(PAGE, 'jsonl').map(withHash);
  await writeFile(pathOf(directory, 'users.csv'), users!);
  await writeFile(pathOf(directory, 'organizations.csv'), organizations!);
  await writeFile(pathOf(directory, 'users.jsonl'), lines!);
  const exports = pathOf(ROOT, 'test/cli/exports');
  for (const [from, to] of [
    ['keycloak-realm.json', 'realm.json'],
    ['auth0-password-hashes.ndjson', 'auth0.ndjson'],
    ['firebase-hash-config.txt', 'firebase-hash-config.txt'],
  ] as const)
    await copyFile(pathOf(exports, from), pathOf(directory, to));
  const firebase = JSON.parse(readFileSync(pathOf(exports, 'firebase-users.json'), 'utf8')) as {
    users: object[];
  };
  const withEmail = firebase.users.filter((user) => 'email' in user);
  await writeFile(pathOf(directory, 'firebase.json'), JSON.stringify({ users: withEmail }));
}

describe('the pages with the tasks of operators', () => {
  let installation: Installation;
  let service: Instance;
  /** in the place of each provider of the page but Entra ID */
  let provider: TestProvider;
  let entra: RecordedProvider;
  const results: Result[] = [];

  beforeAll(async () => {
    installation = await anInstallation();
    service = await startOwnService({ installation });
    provider = await TestProvider.start();
    entra = await RecordedProvider.play('entra-id');
    await writeFile(pathOf(installation.directory, 'secret.txt'), `${provider.secret}\n`);
    await writeFile(pathOf(installation.directory, 'password.txt'), 'a compiler in the attic\n');
    await writeFile(pathOf(installation.directory, 'leavers.txt'), 'hedy@old.example\n');
    await writeImports(installation.directory);
    const [ada, grace] = await Promise.all(['ada', 'grace'].map((name) => register(name)));
    const org = await anOrgOf(ada!);
    await join(org, ada!, grace!, 'member');
    await register('hedy', 'old.example');
    await register('joan');
    for (const name of ['betty', 'jean']) await register(name, 'example.org');
    await protect(service, await register('support'));
    await anInvitation(ada!, org, { email: 'hedy@example.com' });
    await runAll(org, await insertApiKey(service, ada!, { name: 'ledger' }));
  });
  afterAll(async () => {
    provider.stop();
    entra.stop();
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

  async function runAll(org: Org, key: ApiKey): Promise<void> {
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
      const { issuer, clientId } = command.includes(' add entra ') ? entra : provider;
      const here = command
        .replaceAll(ID, (id) => (id === KEY_ID ? key.id : org.id))
        .replace(/--issuer \S+ --client-id \S+/, `--issuer ${issuer} --client-id ${clientId}`)
        .replace('/var/lib/accounts/', `${installation.directory}/`);
      if (!/ [<>] /.test(command)) together.push(here);
      else {
        await runTogether();
        const built = `'${process.execPath}' '${ROOT}/dist/cli/main.js'`;
        results.push(await run('sh', ['-c', here.replace(/\baccounts(?= )/, built)]));
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
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { status: status as number | null, stdout, stderr };
  }

  it('shows what its commands print', () => {
    const printedBy = (start: string) =>
      results[COMMANDS.findIndex((command) => command.startsWith(start))]!.stdout;
    expectPrinted(
      printedBy('accounts providers add entra'),
      outputOf('docs/admin-providers.md', 'entra: added'),
    );
    const required = 'accounts providers change keycloak --required';
    expectPrinted(printedBy(required), outputOf('docs/admin-providers.md', 'keycloak: changed required'));
  });

  it('shows what an import refuses and leaves out', async () => {
    const { users } = JSON.parse(
      readFileSync(pathOf(ROOT, 'test/cli/exports/keycloak-realm.json'), 'utf8'),
    ) as {
      users: { credentials: { type: string; credentialData: string }[] }[];
    };
    const [password, otp] = users[0]!.credentials;
    const of256 = { ...otp, credentialData: otp!.credentialData.replace('SHA1', 'SHA256') };
    const factors = [[otp], [otp], [of256], [], []];
    const moved = factors.map((factor, place) => ({
      email: `moved-${place}@example.com`,
      credentials: [password, ...factor],
      groups: ['/engines'],
    }));
    const realm = { users: [...moved, { email: 'ada@example.com', credentials: [password] }] };
    await writeFile(pathOf(installation.directory, 'moved.json'), JSON.stringify(realm));
    const words = ['users', 'import', 'moved.json', '--format', 'keycloak', '--reason', 'moved'];
    const { code, stdout } = await accounts(installation, words);
    expect(code).toBe(1);
    expectPrinted(stdout, outputOf('docs/migrate.md', 'user 6'));
  });

  it.each(COMMANDS.map((command, place) => [command, place] as const))('%s', (_command, place) => {
    expect(results[place]).toMatchObject({ status: 0, stderr: '' });
  });
});
