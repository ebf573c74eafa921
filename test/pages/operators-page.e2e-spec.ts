import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join as pathOf, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { COMPILE_CACHE } from '../support/service-process.js';
import { anInvitation } from '../support/inviting.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { makeOperator } from '../support/operators.js';
import {
  type Account,
  anAccount,
  anAccountOf,
  anOrgOf,
  anUnknownId,
  aPassword,
  join,
  type Org,
} from '../support/personas.js';
import { aChallenge, protect, type Protected, secondStep } from '../support/second-factor.js';
import {
  type Instance,
  type Service,
  startOwnService,
  startServiceWithoutLimits,
} from '../support/service.js';
import { aServiceClient, type ServiceClient } from '../support/services.js';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(pathOf(ROOT, 'docs/operators.md'), 'utf8');
const ORG_ID = /[0-9a-f]{8}-[0-9a-f-]{27}/g;
const COMMANDS = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block]) =>
  block!.trimEnd().split('\n'),
);
/** The rows of the page's table that have a route: the task, and the method and path. */
const TASKS = [...PAGE.matchAll(/^\| (.+?) +\|.*\| `((?:GET|POST) \/api\/operators\/[^`]+)` +\|$/gm)].map(
  ([, task, route]) => ({ task: task!, route: route! }),
);
/** `test/operators/lookups` has what operators look up. */
const CHANGES = TASKS.filter(({ route }) => route.startsWith('POST '));
const REASON = 'ticket 4711';
/** Runs commands one after another as the built command line does, each of which would take a start of its own. */
const RUNNER = `
  import { COMMANDS } from '${ROOT}/dist/cli/commands.js';
  import { runAccounts } from '${ROOT}/dist/cli/command/program.js';
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

type Body = Record<string, unknown> & Record<string, Record<string, unknown>[]>;

interface Task {
  prepare?: () => Promise<unknown>;
  body?: () => object;
  /** looks at the answer, and at what the person concerned notices */
  check: (answer: Answer<Body>) => unknown;
}

interface Result {
  status: number | null;
  stderr: string;
}

describe('docs/operators.md', () => {
  let installation: Installation;
  let service: Instance;
  const results: Result[] = [];

  beforeAll(async () => {
    installation = await anInstallation();
    service = await startOwnService({ installation });
    await writeFile(pathOf(installation.directory, 'password.txt'), 'a compiler in the attic\n');
    await writeFile(
      pathOf(installation.directory, 'users.jsonl'),
      JSON.stringify({
        email: 'joan@example.com',
        passwordHash: '$2y$04$7SinNdq8UJINIhJBZ8ZG4u9lUUIdSiE0geS98hBC1iVqs9cMiZvqG',
      }),
    );
    const [ada, grace] = await Promise.all(['ada', 'grace'].map((name) => register(name)));
    const org = await anOrgOf(ada!);
    await join(org, ada!, grace!, 'member');
    await register('hedy', 'old.example');
    await protect(service, await register('support'));
    await anInvitation(ada!, org, { email: 'hedy@example.com' });
    runAll(org);
  });
  afterAll(async () => {
    await service.stop();
    await installation.remove();
  });

  const register = (name: string, domain = 'example.com') => anAccountOf(service, `${name}@${domain}`);

  it('has a command for each task', () => {
    expect(COMMANDS.length).toBeGreaterThan(15);
    expect(COMMANDS.filter((command) => !command.startsWith('accounts '))).toEqual([]);
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

  function runAll(org: Org): void {
    let together: string[] = [];
    const runTogether = (): void => {
      const words = together.map((command) =>
        [...command.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word).slice(1),
      );
      const { stderr } = run(process.execPath, ['--input-type=module', '-e', RUNNER, JSON.stringify(words)]);
      results.push(...(JSON.parse(stderr) as Result[]));
      together = [];
    };
    for (const command of COMMANDS) {
      const here = command
        .replaceAll(ORG_ID, org.id)
        .replace('/var/lib/accounts/', `${installation.directory}/`);
      if (!/ [<>] /.test(command)) together.push(here);
      else {
        runTogether();
        const accounts = `'${process.execPath}' '${ROOT}/dist/cli/main.js'`;
        results.push(run('sh', ['-c', here.replace(/^accounts/, accounts)]));
      }
    }
    runTogether();
  }

  const run = (program: string, parameters: string[]): Result =>
    spawnSync(program, parameters, {
      cwd: installation.directory,
      env: { PATH: process.env['PATH'], ...COMPILE_CACHE, ...installation.env },
      encoding: 'utf8',
    });

  it.each(COMMANDS.map((command, place) => [command, place] as const))('%s', (_command, place) => {
    expect(results[place]).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('docs/operators.md over HTTP', () => {
  let service: Service;
  let operator: Account;
  let ada: Account;
  let grace: Protected;
  let org: Org;
  let billing: ServiceClient;
  let mailId: string;

  beforeAll(async () => {
    service = await startServiceWithoutLimits();
    const { account, app } = await protect(service, await anAccount(service, 'support'));
    await makeOperator(service, account);
    const { body } = await secondStep(service, await aChallenge(service, account), app.next());
    operator = account.as(body.token);
  });
  afterAll(() => service.stop());

  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
    grace = await protect(service, await anAccount(service, 'grace'));
    org = await anOrgOf(ada, `Engines of ${ada.email}`);
    await join(org, ada, grace.account, 'member');
    billing = await aServiceClient(service.db, ['memberships']);
    mailId = anUnknownId();
    await service.db.query(
      `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at, ended_at)
        VALUES (?, 'password_changed', ?, 'failed', 1, 1, 1)`,
      [mailId, ada.email],
    );
  });

  const logIn = async ({ email }: Account, password: string): Promise<number> =>
    (await service.anyone.post('/api/auth/login', { email, password })).status;
  const tokenOfGrace = async () => (await grace.account.get('/api/me')).status;
  const members = async () => (await ada.get<Body>(`/api/orgs/${org.id}/members`)).body['members']!;
  const setGrace = (sql: string) =>
    service.db.query(`UPDATE users SET ${sql} WHERE id = ?`, [grace.account.id]);
  const asBilling = async () =>
    (
      await service.anyone
        .with({ authorization: billing.authorization })
        .get(`/api/memberships?orgId=${org.id}`)
    ).status;

  const USER = '/api/operators/users/{userId}';
  const ORG = '/api/operators/orgs/{orgId}';
  const SERVICE = '/api/operators/services/{name}';
  const tasks: Record<string, Task> = {
    [`POST ${USER}/disable`]: {
      check: async () => {
        expect(await tokenOfGrace()).toBe(401);
        expect(await logIn(grace.account, grace.account.password)).toBe(403);
      },
    },
    [`POST ${USER}/enable`]: {
      prepare: () => setGrace('disabled_at = 1'),
      check: async () => expect((await aChallenge(service, grace.account)).length).toBeGreaterThan(0),
    },
    [`POST ${USER}/end-sessions`]: { check: async () => expect(await tokenOfGrace()).toBe(401) },
    [`POST ${USER}/reset-code`]: {
      check: async ({ body: { code } }) => {
        const { email } = grace.account;
        const reset = { email, code, newPassword: aPassword() };
        expect((await service.anyone.post('/api/auth/password/reset', reset)).status).toBe(200);
        await aChallenge(service, { email, password: reset.newPassword });
      },
    },
    [`POST ${USER}/verify-email`]: {
      check: async () => {
        const { body } = await grace.account.get<Body>('/api/me?include=account');
        expect(body['user']).toMatchObject({ emailVerified: true });
      },
    },
    [`POST ${USER}/remove-second-factor`]: {
      check: async () => {
        expect(await tokenOfGrace()).toBe(401);
        expect(await logIn(grace.account, grace.account.password)).toBe(200);
      },
    },
    [`POST ${USER}/delete`]: {
      check: async () => {
        expect(await logIn(grace.account, grace.account.password)).toBe(401);
        expect(await members()).toHaveLength(1);
      },
    },
    [`POST ${ORG}/owners`]: {
      body: () => ({ userId: grace.account.id }),
      check: async () => expect((await members()).map(({ role }) => role)).toEqual(['owner', 'owner']),
    },
    [`POST ${ORG}/restore`]: {
      prepare: () => ada.delete(`/api/orgs/${org.id}`),
      check: async () => expect((await ada.get(`/api/orgs/${org.id}`)).status).toBe(200),
    },
    [`POST ${ORG}/delete`]: {
      check: async () => expect((await ada.get(`/api/orgs/${org.id}`)).status).toBe(404),
    },
    'POST /api/operators/mails/{mailId}/retry': {
      check: async () => {
        const [mail] = await service.db.query('SELECT state FROM mails WHERE id = ?', [mailId]);
        expect(mail!['state']).not.toBe('failed');
      },
    },
    [`POST ${SERVICE}/disable`]: { check: async () => expect(await asBilling()).toBe(401) },
    [`POST ${SERVICE}/enable`]: {
      prepare: () => billing.disable(),
      check: async () => expect(await asBilling()).toBe(200),
    },
  };

  it('has each change of the table', () => {
    expect(CHANGES.map(({ route }) => route)).toEqual(Object.keys(tasks));
  });

  it.each(CHANGES)('$task: $route', async ({ route }) => {
    const { prepare, body, check } = tasks[route]!;
    await prepare?.();
    const path = route.slice('POST '.length);
    const ids: Record<string, string> = {
      userId: grace.account.id,
      orgId: org.id,
      name: billing.name,
      mailId,
    };
    const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name]!);
    const answer = await operator.post<Body>(at, { ...body?.(), reason: REASON });

    expect(answer.status, answer.text).toBe(route.endsWith('/reset-code') ? 201 : 200);
    await check(answer);
  });
});
