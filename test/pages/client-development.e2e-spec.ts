import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, memoryStore, unwrap } from '../../client/src/index.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Instance, startOwnService } from '../support/service.js';
import { snippetsIn } from './support/page-program.js';

const PAGE = readFileSync('docs/clients-development.md', 'utf8');
const PASSWORD = 'data abstraction and hierarchy';

describe('docs/clients-development.md', () => {
  let installation: Installation;
  let service: Instance;
  let mails: string;

  beforeAll(async () => {
    installation = await anInstallation();
    mails = join(installation.directory, 'mails');
    const [command] = snippetsIn(PAGE, 'sh');
    const variables = Array.from(command!.matchAll(/(\w+)=(\S+)/g), ([, name, value]) => [name!, value!]);
    const env = { ...Object.fromEntries(variables), SMTP_URL: `file:${mails}` };
    service = await startOwnService({ installation, env });
  });
  afterAll(async () => {
    await service.stop();
    await installation.remove();
  });

  const clientOf = (baseUrl = service.url) => createClient({ baseUrl, store: memoryStore() });

  it('starts Accounts with emails in files and without a limit of logins', async () => {
    const client = clientOf();
    const ada = { email: 'ada@example.com', password: PASSWORD };
    unwrap(await client.register(ada));
    for (let time = 0; time < 11; time += 1) expect(await client.login(ada)).toMatchObject({ ok: true });
    unwrap(await client.requestEmailVerification());
    const isThere = () => existsSync(mails) && readdirSync(mails).length > 0;
    await waitFor('the email is a file', hangTimeoutMs(), isThere);
  });

  it('names ten mistakes and what they return', async () => {
    const [, mistakes] = PAGE.split('## Ten mistakes');
    const cells = mistakes!.split('\n').map((line) => line.split('|')[2]);
    const shown = cells.flatMap((cell) => /^ `(.*?)`/.exec(cell ?? '')?.[1] ?? []);
    const grace = { email: 'grace@example.com', password: PASSWORD };
    const client = clientOf();
    const { token } = unwrap(await client.register(grace));
    const misspelled = await post('/api/auth/login', { ...grace, refrsh: true });
    const withoutTls = clientOf(service.url.replace('http:', 'https:'));

    expect(shown).toEqual([
      await messageOf(() => clientOf('accounts.example.com')),
      await messageOf(() => clientOf('https://accounts.example.com/api')),
      await messageOf(() => createClient({ baseUrl: service.url, store: undefined as never })),
      await messageOf(() => client.createOrg({ name: 'Engines', dryRun: true } as { name: string })),
      await messageOf(() => client.getOrg({ orgId: undefined as never })),
      codeOf(await withoutTls.getAuthConfig({}, { retries: 0 })),
      String(await sessionsAfterThreeStarts()),
      await codeIn(await fetch(`${service.url}/api/me`, { headers: { authorization: token } })),
      await codeIn(await post('/api/orgs?dryrun=true', { name: 'Engines' }, `Bearer ${token}`)),
      String(misspelled.status),
    ]);
    expect(shown).toHaveLength(10);
    expect(await misspelled.json()).not.toHaveProperty('refreshToken');
    expect(unwrap(await client.listOrgs()).orgs).toEqual([]);
  });

  const messageOf = async (work: () => unknown): Promise<string> => {
    try {
      await work();
    } catch (error) {
      return (error as TypeError).message;
    }
    throw new Error('nothing was thrown');
  };
  const codeOf = (result: { ok: boolean; problem?: { code: string } }) => result.problem?.code;
  const codeIn = async (answer: Response) => ((await answer.json()) as { code: string }).code;
  const post = (path: string, body: object, authorization = '') =>
    fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: JSON.stringify(body),
    });

  async function sessionsAfterThreeStarts(): Promise<number> {
    const client = clientOf();
    const hedy = { email: 'hedy@example.com', password: PASSWORD };
    unwrap(await client.register(hedy));
    for (let start = 2; start <= 3; start += 1) unwrap(await client.login(hedy));
    return unwrap(await client.listSessions()).sessions.length;
  }
});
